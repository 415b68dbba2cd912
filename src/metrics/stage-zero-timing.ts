import type { ResponseFacts } from '../records/request-record.ts';
import { figureList, positiveFigure } from './snapshot-number.ts';

/** Token timing that the text stage reported of itself. */
export type StageZeroTiming = {
  /** Time from the first to the last token, ms, > 0. */
  readonly spanMs: number;
  /** Inter-token latencies, ms; empty where only their mean was reported. */
  readonly gapsMs: Float64Array;
};

/** What the text stage said of one response. */
export type StageZeroEntry = {
  /** A whole number ≥ 0; NaN = not said, which makes the whole unusable. */
  readonly tokens: number;
  /** `null` = no list, or no times. */
  readonly gapsMs: readonly number[] | null;
  readonly tpotMs: number | null;
};

/**
 * Timing of stage 0, for replies whose text all came in one read, so that the client saw no gaps (vLLM-Omni PR
 * #6818). Believed only where its token count is the reply's.
 * @param expectedTokens output tokens of the request
 * @returns `null` where the stage reported no usable timing
 */
export function stageZeroTiming(
  responses: readonly ResponseFacts[],
  expectedTokens: number,
): StageZeroTiming | null {
  return timingOfEntries(
    responses.map(entryOf).filter((entry) => entry !== null),
    expectedTokens,
  );
}

/**
 * The same of a session, whose every response must have an entry. Gaps between responses are no gaps between tokens.
 * @param expectedTokens output tokens of all responses
 */
export function timingOfEntries(
  entries: readonly StageZeroEntry[],
  expectedTokens: number,
): StageZeroTiming | null {
  const total = entries.reduce((sum, entry) => sum + entry.tokens, 0);
  const timed = entries.filter((entry) => entry.tokens > 1);
  if (total !== expectedTokens || timed.length === 0) return null;
  return timingOfLists(timed) ?? timingOfMeans(timed, expectedTokens);
}

function entryOf(response: ResponseFacts): StageZeroEntry | null {
  const snapshot = response.stages['0'];
  if (!snapshot) return null;
  const count = snapshot.num_tokens_out;
  return {
    // NaN is equal to nothing, so that a count that is none makes the sum fail.
    tokens: typeof count === 'number' && Number.isInteger(count) && count >= 0 ? count : Number.NaN,
    gapsMs: figureList(snapshot.vllm_itls_ms),
    tpotMs: positiveFigure(snapshot.vllm_tpot_ms),
  };
}

function timingOfLists(entries: readonly StageZeroEntry[]): StageZeroTiming | null {
  const all: number[] = [];
  for (const { gapsMs, tokens } of entries) {
    if (gapsMs?.length !== tokens - 1) return null;
    for (const gapMs of gapsMs) all.push(gapMs);
  }
  const spanMs = all.reduce((sum, gap) => sum + gap, 0);
  return spanMs > 0 ? { spanMs, gapsMs: Float64Array.from(all) } : null;
}

function timingOfMeans(entries: readonly StageZeroEntry[], expectedTokens: number): StageZeroTiming | null {
  let weightedMs = 0;
  let weights = 0;
  for (const { tpotMs, tokens } of entries) {
    if (tpotMs === null) return null;
    weightedMs += tpotMs * (tokens - 1);
    weights += tokens - 1;
  }
  return { spanMs: (weightedMs / weights) * (expectedTokens - 1), gapsMs: new Float64Array(0) };
}
