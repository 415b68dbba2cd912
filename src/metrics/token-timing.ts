import type { EventLog } from '../records/event-log.ts';
import type { EndpointTraits } from '../records/run-facts.ts';
import { countedTokens, splitOverTokens, type TokenTiming, visitCounted } from './token-arrivals.ts';
import { isTokenChunk } from './token-events.ts';

/**
 * Token timing by the endpoint's rule: gaps between chunks, or gaps split over each chunk's tokens where tokens were
 * counted at all. `null` = no token event came.
 */
export function tokenTimingOf(events: EventLog, rule: EndpointTraits['itl']): TokenTiming | null {
  const counted = rule === 'token_split' ? countedTokens(events) : 0;
  if (counted > 0) return splitOverTokens(counted, (visit) => visitCounted(events, visit));
  return chunkTiming(events);
}

/** Gaps between chunks that brought tokens, however many each held. */
function chunkTiming(events: EventLog): TokenTiming | null {
  let chunks = 0;
  for (let i = 0; i < events.kinds.length; i += 1) if (isTokenChunk(events, i)) chunks += 1;
  if (chunks === 0) return null;
  return splitOverTokens(chunks, (visit) => {
    for (let i = 0; i < events.kinds.length; i += 1)
      if (isTokenChunk(events, i)) visit(events.timesMs[i] ?? 0, 1);
  });
}
