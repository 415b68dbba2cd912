import type { EventLog } from '../records/event-log.ts';
import { isTokenChunk, tokensAt } from './token-events.ts';

/** Called for each message that brought tokens, in order: its time, ms on the run's clock, and a whole number > 0. */
export type ArrivalVisitor = (timeMs: number, tokens: number) => void;

/**
 * More tokens in one reply than any model writes. A count above it comes from a broken server, and spreading it out
 * would fill the client's memory.
 */
const credibleTokens = 2 ** 20;

/** Tokens that the reply's messages were counted to have brought; 0 where none was or the count is not credible. */
export function countedTokens(events: EventLog): number {
  let total = 0;
  for (let i = 0; i < events.kinds.length; i += 1) total += tokensAt(events, i);
  return total <= credibleTokens ? total : 0;
}

/** Walks over the messages whose tokens were counted. */
export function visitCounted(events: EventLog, visit: ArrivalVisitor): void {
  for (let i = 0; i < events.kinds.length; i += 1) {
    const tokens = tokensAt(events, i);
    if (tokens > 0) visit(events.timesMs[i] ?? 0, tokens);
  }
}

/**
 * Walks over a reply's messages with its total laid on them in proportion to their counts; a chunk of unknown size
 * counts as one. Where the counts add up to the total they stand as they are. Totals that are not credible have no
 * walk.
 * @param total output tokens of the reply
 */
export function visitShared(events: EventLog, total: number, visit: ArrivalVisitor): void {
  const counted = chunkWeights(events);
  if (total <= 0 || total > credibleTokens || counted === 0) return;
  let seen = 0;
  let given = 0;
  for (let i = 0; i < events.kinds.length; i += 1) {
    if (!isTokenChunk(events, i)) continue;
    seen += Math.max(tokensAt(events, i), 1);
    const share = Math.round((seen * total) / counted) - given;
    if (share === 0) continue;
    given += share;
    visit(events.timesMs[i] ?? 0, share);
  }
}

function chunkWeights(events: EventLog): number {
  let weights = 0;
  for (let i = 0; i < events.kinds.length; i += 1)
    if (isTokenChunk(events, i)) weights += Math.max(tokensAt(events, i), 1);
  return weights;
}

/** When the tokens of one reply came. */
export type TokenTiming = {
  /** First and last token event, ms on the run's clock. */
  readonly firstMs: number;
  readonly lastMs: number;
  /** Inter-token latencies, ms, in order of arrival. */
  readonly gapsMs: Float64Array;
};

/**
 * One gap per token after the first: what lies between two messages is shared evenly by the later one's tokens, and
 * the first message's further tokens have 0 (vLLM PR #28183).
 * @param total tokens of the walk, > 0
 * @param walk over the messages in order
 */
export function splitOverTokens(total: number, walk: (visit: ArrivalVisitor) => void): TokenTiming {
  const gapsMs = new Float64Array(total - 1);
  let firstMs = 0;
  let lastMs = 0;
  let seen = 0;
  walk((timeMs, tokens) => {
    if (seen === 0) firstMs = timeMs;
    else gapsMs.fill(Math.max(timeMs - lastMs, 0) / tokens, seen - 1, seen - 1 + tokens);
    lastMs = timeMs;
    seen += tokens;
  });
  return { firstMs, lastMs, gapsMs };
}
