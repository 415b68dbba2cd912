import type { TurnEnd } from './duplex-observer.ts';

function seconds(ms: number | null): string {
  return ms === null ? '-' : `${(ms / 1000).toFixed(3)}s`;
}

/** What the line of a response is made of; `null` = there was none. */
export type SaidTurn = {
  readonly responseId: string;
  readonly sessionId: string;
  /** Committed turns of the user when it began. */
  readonly turnId: number;
  readonly epoch: number;
  readonly totalMs: number;
  readonly ttftMs: number | null;
  readonly ttfpMs: number | null;
  readonly lastAudioMs: number | null;
  readonly tokens: number;
  readonly audioMs: number;
};

/** One line of a response: times from its start. */
export function describeTurn(turn: SaidTurn, reason: TurnEnd): string {
  const { responseId, sessionId, turnId, epoch, totalMs, ttftMs, ttfpMs, lastAudioMs, tokens, audioMs } =
    turn;
  const rtf = lastAudioMs === null || audioMs === 0 ? '-' : (lastAudioMs / audioMs).toFixed(3);
  return (
    `[OmniTiming] req=${responseId} session=${sessionId} turn=${turnId} epoch=${epoch} total=${seconds(totalMs)} ` +
    `ttft=${seconds(ttftMs)} ttfp=${seconds(ttfpMs)} tokens=${tokens} audio=${seconds(audioMs)} rtf=${rtf} ` +
    `reason=${reason}`
  );
}

/** What the line of a session is made of. */
export type HeldSession = {
  readonly sessionId: string;
  readonly totalMs: number;
  readonly inputMs: number;
  readonly units: number;
  readonly turns: number;
  readonly responses: number;
  readonly epochs: number;
};

/** One line of a session that is over. */
export function describeSession(session: HeldSession, reason: string): string {
  const { sessionId, totalMs, inputMs, units, turns, responses, epochs } = session;
  return (
    `[OmniTiming] req=${sessionId} total=${seconds(totalMs)} input=${seconds(inputMs)} units=${units} turns=${turns} ` +
    `responses=${responses} epochs=${epochs} reason=${reason}`
  );
}
