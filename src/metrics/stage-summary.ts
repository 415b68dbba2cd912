import { summarizeInPlace, summarizeSample } from '../foundation/statistics.ts';
import type { RequestRecord } from '../records/request-record.ts';
import { stageMetrics } from './catalogue.ts';
import { recordOf } from './record-of.ts';
import { SampleColumn } from './sample-column.ts';
import { type StageRows, stageRowsOf } from './stage-rows.ts';
import type { StageDurationSummary, StageSummary } from './summary.ts';

/** All stages that successful requests reported, in order of their ids. */
export function stageSummariesOf(
  succeeded: readonly RequestRecord[],
  percentiles: readonly number[],
): StageSummary[] {
  return stageRowsOf(succeeded).map((stage) => stageSummaryOf(stage, percentiles));
}

function stageSummaryOf(stage: StageRows, percentiles: readonly number[]): StageSummary {
  // One metric after the other: gaps of all tokens of a large run are hundreds of megabytes.
  const seen = recordOf(stageMetrics, (metric) => {
    const column = new SampleColumn();
    for (const row of stage.rows) column.pushAll(metric.of(row));
    const values = column.values();
    const total = values.reduce((sum, value) => sum + value, 0);
    return { total, summary: summarizeInPlace(values, percentiles) };
  });
  return {
    id: stage.id,
    name: stage.name,
    stageClass: stage.stageClass,
    rows: stage.rows.length,
    distributions: recordOf(seen, ({ summary }) => summary),
    totals: recordOf(seen, ({ total }) => total),
  };
}

/** The server's profiler durations by key, in order of first appearance. */
export function stageDurationsOf(succeeded: readonly RequestRecord[]): StageDurationSummary[] {
  const byKey = new Map<string, number[]>();
  for (const record of succeeded) {
    const durations = record.responses.flatMap((response) => Object.entries(response.stageDurations));
    for (const [key, value] of new Map(durations)) {
      const values = byKey.get(key);
      if (values) values.push(value);
      else byKey.set(key, [value]);
    }
  }
  return [...byKey].map(([key, values]) => {
    const { mean, median, percentiles } = summarizeSample(values, [99]);
    return { key, mean: mean ?? 0, median: median ?? 0, p99: percentiles[0]?.[1] ?? 0 };
  });
}
