import type { EventLog } from '../records/event-log.ts';
import type { EndpointTraits } from '../records/run-facts.ts';
import { countedArrivals, gapsPerToken } from './token-arrivals.ts';
import { isTokenChunk } from './token-events.ts';

/** When the tokens of one reply came. */
export type TokenTiming = {
  /** First and last token event, ms on the run's clock. */
  readonly firstMs: number;
  readonly lastMs: number;
  /** Inter-token latencies, ms, in order of arrival. */
  readonly gapsMs: Float64Array;
};

/**
 * Token timing by the endpoint's rule: gaps between chunks, or gaps split over each chunk's tokens where tokens were
 * counted at all. `null` = no token event came.
 */
export function tokenTimingOf(events: EventLog, rule: EndpointTraits['itl']): TokenTiming | null {
  const counted = rule === 'token_split' ? countedArrivals(events) : null;
  if (!counted) return chunkTiming(events);
  const firstMs = counted.timesMs[0] ?? 0;
  return { firstMs, lastMs: counted.timesMs.at(-1) ?? firstMs, gapsMs: gapsPerToken(counted) };
}

/** Gaps between chunks that brought tokens, however many each held. */
function chunkTiming(events: EventLog): TokenTiming | null {
  let chunks = 0;
  let firstMs = 0;
  for (let i = 0; i < events.kinds.length; i += 1) {
    if (!isTokenChunk(events, i)) continue;
    if (chunks === 0) firstMs = events.timesMs[i] ?? 0;
    chunks += 1;
  }
  if (chunks === 0) return null;
  const gapsMs = new Float64Array(chunks - 1);
  let lastMs = firstMs;
  let seen = 0;
  for (let i = 0; seen < chunks; i += 1) {
    if (!isTokenChunk(events, i)) continue;
    const timeMs = events.timesMs[i] ?? lastMs;
    if (seen > 0) gapsMs[seen - 1] = Math.max(timeMs - lastMs, 0);
    lastMs = timeMs;
    seen += 1;
  }
  return { firstMs, lastMs, gapsMs };
}
