import { type EventLog, eventKinds } from '../records/event-log.ts';
import type { RequestRecord } from '../records/request-record.ts';
import type { EndpointTraits } from '../records/run-facts.ts';

/** Origin of a request's latencies: when its last attempt was sent, ms. `null` = nothing was sent. */
export function startMsOf(record: RequestRecord): number | null {
  return record.attempts.at(-1)?.sendMs ?? null;
}

/**
 * When a request's latency ends, ms: by the endpoint's rule, else with the body. `null` = nothing was sent.
 * Usage that comes late and `[DONE]` don't lengthen a latency that ends with the last output (vLLM PR #55508).
 */
export function latencyEndMsOf(record: RequestRecord, rule: EndpointTraits['latencyEnd']): number | null {
  const { events } = record;
  if (rule === 'last_choice') {
    const last = lastOutputIndex(events);
    if (last !== null) return events.timesMs[last] ?? null;
  }
  if (rule !== 'body_end') {
    const last = events.timesMs.at(-1);
    if (last !== undefined) return last;
  }
  const attempt = record.attempts.at(-1);
  return attempt?.exchanges.at(-1)?.endMs ?? attempt?.endMs ?? null;
}

/** The last message that brought output: tokens, or a payload of text, audio or images. */
function lastOutputIndex(events: EventLog): number | null {
  for (let i = events.kinds.length - 1; i >= 0; i -= 1) {
    const kind = events.kinds[i];
    const isChoice = kind !== eventKinds.usage && kind !== eventKinds.other;
    if (isChoice && ((events.bytes[i] ?? 0) > 0 || (events.tokens[i] ?? 0) > 0)) return i;
  }
  return null;
}
