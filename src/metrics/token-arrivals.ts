import type { EventLog } from '../records/event-log.ts';
import { isTokenChunk, tokensAt } from './token-events.ts';

/** Tokens by arrival: parallel columns of times (ms on the run's clock, rising) and whole numbers of tokens > 0. */
export type TokenArrivals = { readonly timesMs: Float64Array; readonly tokens: Float64Array };

/**
 * More tokens in one reply than any model writes. A count above it comes from a broken server, and spreading it out
 * would fill the client's memory.
 */
const credibleTokens = 2 ** 20;

/** The messages whose tokens were counted. `null` = none was, or the counts are not credible. */
export function countedArrivals(events: EventLog): TokenArrivals | null {
  let messages = 0;
  let total = 0;
  for (let i = 0; i < events.kinds.length; i += 1) {
    const tokens = tokensAt(events, i);
    if (tokens > 0) messages += 1;
    total += tokens;
  }
  if (total === 0 || total > credibleTokens) return null;
  const timesMs = new Float64Array(messages);
  const tokens = new Float64Array(messages);
  let at = 0;
  for (let i = 0; at < messages; i += 1) {
    const brought = tokensAt(events, i);
    if (brought === 0) continue;
    timesMs[at] = events.timesMs[i] ?? 0;
    tokens[at] = brought;
    at += 1;
  }
  return { timesMs, tokens };
}

/**
 * A reply's total laid on the messages that brought it, in proportion to their counts; a chunk of unknown size
 * counts as one. Where the counts add up to the total they stand as they are.
 * @param total output tokens of the reply
 * @returns `null` where no message brought tokens or the total is not credible
 */
export function sharedArrivals(events: EventLog, total: number): TokenArrivals | null {
  const chunks: number[] = [];
  let counted = 0;
  for (let i = 0; i < events.kinds.length; i += 1) {
    if (!isTokenChunk(events, i)) continue;
    chunks.push(i);
    counted += Math.max(tokensAt(events, i), 1);
  }
  if (chunks.length === 0 || total <= 0 || total > credibleTokens) return null;
  const timesMs: number[] = [];
  const tokens: number[] = [];
  let seen = 0;
  let given = 0;
  for (const index of chunks) {
    seen += Math.max(tokensAt(events, index), 1);
    const share = Math.round((seen * total) / counted) - given;
    if (share === 0) continue;
    given += share;
    timesMs.push(events.timesMs[index] ?? 0);
    tokens.push(share);
  }
  return { timesMs: Float64Array.from(timesMs), tokens: Float64Array.from(tokens) };
}

/**
 * One gap per token after the first, ms: what lies between two messages is shared evenly by the later one's tokens,
 * and the first message's further tokens have 0 (vLLM PR #28183).
 */
export function gapsPerToken({ timesMs, tokens }: TokenArrivals): Float64Array {
  let total = 0;
  for (let i = 0; i < tokens.length; i += 1) total += tokens[i] ?? 0;
  const gapsMs = new Float64Array(Math.max(total - 1, 0));
  let lastMs = timesMs[0] ?? 0;
  let at = (tokens[0] ?? 1) - 1;
  for (let i = 1; i < tokens.length; i += 1) {
    const brought = tokens[i] ?? 1;
    const timeMs = timesMs[i] ?? lastMs;
    gapsMs.fill(Math.max(timeMs - lastMs, 0) / brought, at, at + brought);
    lastMs = timeMs;
    at += brought;
  }
  return gapsMs;
}
