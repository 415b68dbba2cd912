import { longestTimerMs } from '../foundation/longest-timer.ts';
import type { StopSignal } from './endpoint.ts';

/** Waits, unless the run stops first. */
export function pause(ms: number, stop: StopSignal): Promise<void> {
  return new Promise((resolve) => {
    if (stop.stopped) {
      resolve();
      return;
    }
    const timer = setTimeout(end, Math.min(ms, longestTimerMs));
    const forget = stop.onStop(end);
    function end(): void {
      clearTimeout(timer);
      forget();
      resolve();
    }
  });
}
