import { summarize } from '../../metrics/summarize.ts';
import type { RunSummary } from '../../metrics/summary.ts';
import type { RequestRecord } from '../../records/request-record.ts';
import { compareKey } from '../../report/compare/compare-key.ts';
import { gateLine } from '../../report/compare/comparison-report.ts';
import { type Gate, judgeThreshold } from '../../report/compare/gate.ts';
import { keyValues } from '../../report/compare/run-of-summary.ts';
import type { CommandIo } from './options.ts';

/**
 * Judges a run's thresholds and prints how each came out; one on a value that was not observed is broken.
 * @returns whether any broke
 */
export function judgeThresholds(
  run: { readonly summary: RunSummary; readonly records: readonly RequestRecord[] },
  thresholds: readonly Gate[],
  io: CommandIo,
): boolean {
  if (thresholds.length === 0) return false;
  const values = keyValues(withPercentiles(run, thresholds));
  const results = thresholds.map((gate) => judgeThreshold(gate, values.get(gate.key) ?? null));
  for (const result of results) io.stdout(gateLine(result));
  return results.some(({ passed }) => !passed);
}

/** The summary, made anew where a threshold speaks of a percentile that the report does not show. */
function withPercentiles(
  { summary, records }: { readonly summary: RunSummary; readonly records: readonly RequestRecord[] },
  thresholds: readonly Gate[],
): RunSummary {
  const { facts } = summary;
  const asked = thresholds.flatMap(({ key }) => {
    const { statistic } = compareKey(key);
    return typeof statistic === 'object' && statistic !== null ? [statistic.percentile] : [];
  });
  const missing = asked.filter((percentile) => !facts.metricPercentiles.includes(percentile));
  if (missing.length === 0) return summary;
  return summarize(records, {
    ...facts,
    metricPercentiles: [...facts.metricPercentiles, ...new Set(missing)],
  });
}
