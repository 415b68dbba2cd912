import type { SampleSummary } from '../foundation/statistics.ts';
import {
  type DistributionKey,
  distributionMetric,
  type RequestMetricKey,
  type RunMetricKey,
} from '../metrics/catalogue.ts';
import type { MetricEntry, MetricUnit } from '../metrics/metric.ts';
import type { RequestRow, RunSummary } from '../metrics/summary.ts';
import { percentileName } from './report-lines.ts';

// The parts that a result file's list of keys is made of. A list of sources in order is a layout of the file.

export type Entry = readonly [key: string, value: unknown];

export type ResultContext = {
  readonly summary: RunSummary;
  /** With the lists that have an entry per request. */
  readonly detailed: boolean;
  /** `YYYYMMDD-HHMMSS` */
  readonly dateLabel: string;
  /** The measured requests, made at the first call. */
  rows(): readonly RequestRow[];
};

/** One place in the list: none, one or several keys. */
export type EntrySource = (context: ResultContext) => readonly Entry[];

/** JSON has neither NaN nor Infinity; both mean that nothing was observed. */
export function finiteOrNull(value: number | null | undefined): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** An aggregate under its own key. */
export function aggregate(metric: RunMetricKey): EntrySource {
  return ({ summary }) => [[metric, finiteOrNull(summary.run[metric])]];
}

/** How many requests observed a metric. */
export function sampleCount(metric: DistributionKey): EntrySource {
  return ({ summary }) => [[`num_${metric}_samples`, summary.distributions[metric].count]];
}

const suffixes: Partial<Record<MetricUnit, string>> = { ms: '_ms', s: '_s' };

/** A metric's key with its unit: `ttft_ms`, `audio_rtf`. */
export function keyWithUnit({ key, unit }: Pick<MetricEntry, 'key' | 'unit'>): string {
  return key + (suffixes[unit] ?? '');
}

function stemOf(metric: DistributionKey): string {
  return keyWithUnit(distributionMetric(metric));
}

/** Mean, median, deviation and a key for each percentile; nothing where the metric was not observed. */
export function statistics(metric: DistributionKey): EntrySource {
  return ({ summary }) => {
    const sample = summary.distributions[metric];
    const stem = stemOf(metric);
    if (sample.count === 0) return [];
    return [
      [`mean_${stem}`, finiteOrNull(sample.mean)],
      [`median_${stem}`, finiteOrNull(sample.median)],
      [`std_${stem}`, finiteOrNull(sample.std)],
      ...sample.percentiles.map(
        ([p, value]): Entry => [`p${percentileName(p)}_${stem}`, finiteOrNull(value)],
      ),
    ];
  };
}

/** Mean, median and a list of percentiles, always there: the form of the metrics that flags don't select. */
export function listedStatistics(metric: DistributionKey): EntrySource {
  return ({ summary }) => {
    const sample = summary.distributions[metric];
    const stem = stemOf(metric);
    return [
      [`mean_${stem}`, finiteOrNull(sample.mean)],
      [`median_${stem}`, finiteOrNull(sample.median)],
      [`percentiles_${stem}`, percentileList(sample)],
    ];
  };
}

/** `[[p, value], …]` */
export function percentileList(sample: SampleSummary): readonly (readonly [number, number | null])[] {
  return sample.percentiles.map(([p, value]) => [p, finiteOrNull(value)]);
}

/** The deviation that {@link listedStatistics} leaves out. */
export function deviation(metric: DistributionKey): EntrySource {
  return ({ summary }) => [[`std_${stemOf(metric)}`, finiteOrNull(summary.distributions[metric].std)]];
}

/** A list with an entry per measured request, in detail only. */
export function perRequest(key: string, of: (row: RequestRow) => unknown): EntrySource {
  return ({ detailed, rows }) => (detailed ? [[key, rows().map(of)]] : []);
}

/** A scalar of the catalogue as such a list; times in seconds. */
export function perRequestMetric(key: string, metric: RequestMetricKey): EntrySource {
  const scale = distributionMetric(metric).unit === 'ms' ? 1000 : 1;
  return perRequest(key, ({ values }) => {
    const value = finiteOrNull(values[metric]);
    return value === null ? null : value / scale;
  });
}
