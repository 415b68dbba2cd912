import { type EventLog, eventKinds } from '../records/event-log.ts';

/**
 * Tokens that a message is known to have brought: output that tokens wrote, or an empty choice whose usage says that
 * one was made. 0 = none, or not counted.
 */
export function tokensAt(events: EventLog, index: number): number {
  const kind = events.kinds[index] ?? eventKinds.other;
  const canBring = kind <= eventKinds.refusal || kind === eventKinds.empty;
  return canBring ? Math.max(events.tokens[index] ?? 0, 0) : 0;
}

/**
 * Whether a message is a token event when tokens need not be counted: text, reasoning, a tool call or a refusal with
 * content, or any choice with a counted token. A chunk that only opens or ends a reply is none: it would make the
 * TTFT that of the role (vLLM issue #15106).
 */
export function isTokenChunk(events: EventLog, index: number): boolean {
  const kind = events.kinds[index] ?? eventKinds.other;
  return (kind <= eventKinds.refusal && (events.bytes[index] ?? 0) > 0) || tokensAt(events, index) > 0;
}

/** When the first token of the answer itself came, reasoning apart, ms on the run's clock; `null` = none came. */
export function firstContentMs(events: EventLog): number | null {
  for (let i = 0; i < events.kinds.length; i += 1) {
    if (events.kinds[i] !== eventKinds.reasoning && (events.bytes[i] ?? 0) > 0 && isTokenChunk(events, i))
      return events.timesMs[i] ?? null;
  }
  return null;
}

/** Whether the first tokens of a reply were reasoning. */
export function opensWithReasoning(events: EventLog): boolean {
  for (let i = 0; i < events.kinds.length; i += 1) {
    if (isTokenChunk(events, i)) return events.kinds[i] === eventKinds.reasoning;
  }
  return false;
}
