import type { RequestRow, RunSummary } from '../metrics/summary.ts';
import { baseResult } from './base-result.ts';
import { omniResult } from './omni-result.ts';
import { poolingResult } from './pooling-result.ts';
import type { ResultContext } from './result-entries.ts';

/** A result as it is saved. Plain values only: no NaN, no Infinity, no typed arrays. */
export type ResultJson = Readonly<Record<string, unknown>>;

/**
 * The result file's content, keys in the order of the original, its additions after them. `null` = not observed.
 * @param options.detailed with the lists that have an entry per request (`--save-detailed`)
 * @param options.dateLabel `YYYYMMDD-HHMMSS`
 */
export function renderResultJson(
  summary: RunSummary,
  options: { readonly detailed: boolean; readonly dateLabel: string },
): ResultJson {
  let rows: readonly RequestRow[] | null = null;
  const context: ResultContext = {
    ...options,
    summary,
    rows: () => {
      rows ??= [...summary.requests()];
      return rows;
    },
  };
  const { facts } = summary;
  const pooling = facts.endpoint.output === 'pooling';
  const sources = pooling ? poolingResult : facts.omni ? omniResult : baseResult;
  // A key that comes twice keeps its first place and its last value: metadata can't replace results.
  return Object.fromEntries(sources.flatMap((source) => source(context)));
}
