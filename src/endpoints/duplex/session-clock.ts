import { nowMs } from '../../foundation/clock.ts';
import { longestTimerMs } from '../../foundation/longest-timer.ts';

/** A session's time. Tests have one of their own, which only moves when nothing else is left to do. */
export type SessionClock = {
  nowMs(): number;
  /** Calls back once at that time, never before it. @returns takes the call back */
  at(timeMs: number, callback: () => void): () => void;
};

/** Timers may be this late on a machine at work, ms: the last stretch is waited out turn by turn. */
const timerSlackMs = 2;

/**
 * The process's clock. A timer alone is up to two milliseconds late; the turns of the event loop that replace its last
 * stretch cost one core about 1 % at five calls a second, and go on serving sockets.
 */
export const realClock: SessionClock = {
  nowMs,
  at(timeMs, callback) {
    let timer: NodeJS.Timeout | null = null;
    let turn: NodeJS.Immediate | null = null;
    const spin = (): void => {
      turn = null;
      if (nowMs() >= timeMs) callback();
      else turn = setImmediate(spin);
    };
    const wait = (): void => {
      timer = null;
      const leftMs = timeMs - nowMs() - timerSlackMs;
      if (leftMs >= 1) timer = setTimeout(wait, Math.min(leftMs, longestTimerMs));
      else turn = setImmediate(spin);
    };
    wait();
    return () => {
      if (timer !== null) clearTimeout(timer);
      if (turn !== null) clearImmediate(turn);
    };
  },
};
