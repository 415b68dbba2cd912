import { createHash } from 'node:crypto';
import { withoutSecrets } from '../../foundation/command-secrets.ts';
import { mean, percentileOfSorted, populationStd, sortedCopy } from '../../foundation/statistics.ts';
import type { RequestMetricKey } from '../../metrics/catalogue.ts';
import type { RequestRow, RunSummary } from '../../metrics/summary.ts';

/** What the formats of other tools state of a sample; `null` = it is empty. */
export type ExportStatistics = {
  readonly count: number;
  readonly sum: number;
  readonly mean: number;
  readonly min: number;
  readonly max: number;
  /** Population and sample (n − 1) deviation. */
  readonly std: number;
  readonly sampleStd: number;
  readonly percentile: (p: number) => number;
};

export function exportStatistics(values: readonly number[]): ExportStatistics | null {
  const sorted = sortedCopy(values);
  const centre = mean(sorted);
  const std = populationStd(sorted);
  const min = sorted[0];
  const max = sorted.at(-1);
  if (centre === null || std === null || min === undefined || max === undefined) return null;
  const count = sorted.length;
  return {
    count,
    sum: centre * count,
    mean: centre,
    min,
    max,
    std,
    sampleStd: count > 1 ? std * Math.sqrt(count / (count - 1)) : 0,
    percentile: (p) => percentileOfSorted(sorted, p) ?? centre,
  };
}

/** The observed values of a metric over requests. */
export function observed(rows: readonly RequestRow[], key: RequestMetricKey): number[] {
  return rows.flatMap(({ values }) => values[key] ?? []);
}

/** Wall-clock time of a moment of the run, ms since 1970; `null` where the run never began. */
export function epochMs({ facts }: RunSummary, timeMs: number | null | undefined): number | null {
  if (facts.startMs === null || timeMs === null || timeMs === undefined) return null;
  return Date.parse(facts.startedAt) + (timeMs - facts.startMs);
}

/** An id of the run that is the same at every export of it. */
export function runId({ facts }: RunSummary): string {
  const said = JSON.stringify([facts.startedAt, facts.argv, facts.url, facts.hostClockOffsetMs]);
  return createHash('sha256').update(said).digest('hex').slice(0, 32);
}

/** The run's own words of how it was made, for the free-form parts of other formats. */
export function runConfig({ facts }: RunSummary): Readonly<Record<string, unknown>> {
  return {
    tool: 'omnimeter',
    tool_version: facts.omnimeterVersion,
    argv: withoutSecrets(facts.argv),
    backend: facts.endpoint.name,
    url: facts.url,
    model: facts.modelId,
    tokenizer: facts.tokenizerId,
    dataset: facts.dataset,
    num_prompts: facts.numPrompts,
    request_rate: facts.requestRate ?? 'inf',
    burstiness: facts.burstiness ?? 'inf',
    max_concurrency: facts.maxConcurrency,
    seed: facts.seed,
    label: facts.label,
    metadata: facts.metadata,
  };
}
