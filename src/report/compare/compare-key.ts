import { nearestName } from '../../foundation/nearest-name.ts';
import { requestMetrics, runMetrics, samplesMetrics } from '../../metrics/catalogue.ts';
import type { MetricEntry, MetricUnit } from '../../metrics/metric.ts';
import { keysOf } from '../../metrics/record-of.ts';
import { keyWithUnit } from '../result-entries.ts';

/** What a key of a result file states of a metric. */
export type KeyStatistic = 'mean' | 'median' | 'std' | { readonly percentile: number };

/** A key of a result file, taken apart. */
export type CompareKey = {
  readonly key: string;
  /** `ttft_ms` of `p99_ttft_ms`; `null` = not a statistic of a distribution of the catalogue. */
  readonly stem: string | null;
  readonly statistic: KeyStatistic | null;
  /** `null` = a number that the catalogue does not know. */
  readonly unit: MetricUnit | null;
  readonly better: 'lower' | 'higher' | 'neither';
};

const distributions: ReadonlyMap<string, MetricEntry> = new Map(
  Object.values({ ...requestMetrics, ...samplesMetrics }).map((metric) => [keyWithUnit(metric), metric]),
);
const runs: ReadonlyMap<string, MetricEntry> = new Map(Object.entries(runMetrics));

/** Stems of the catalogue's distributions, in its order. */
export const distributionStems: readonly string[] = [...distributions.keys()];
/** Keys of the catalogue's aggregates, in its order. */
export const runKeys: readonly string[] = keysOf(runMetrics);

export function parseStatistic(text: string): KeyStatistic | null {
  if (text === 'mean' || text === 'median' || text === 'std') return text;
  const percentile = /^p(\d+(?:\.\d+)?)$/.exec(text)?.[1];
  return percentile !== undefined && Number(percentile) <= 100 ? { percentile: Number(percentile) } : null;
}

/** Takes a key apart; one that the catalogue does not know stays a plain number without a direction. */
export function compareKey(key: string): CompareKey {
  const run = runs.get(key);
  if (run) return { key, stem: null, statistic: null, unit: run.unit, better: run.better };
  const at = key.indexOf('_');
  const statistic = parseStatistic(key.slice(0, at));
  const stem = key.slice(at + 1);
  const metric = statistic === null ? undefined : distributions.get(stem);
  if (!metric) return { key, stem: null, statistic: null, unit: null, better: 'neither' };
  return { key, stem, statistic, unit: metric.unit, better: metric.better };
}

/** Whether any result can have the key: a statistic or aggregate of the catalogue, observed or not. */
export function isCatalogueKey(key: string): boolean {
  return compareKey(key).unit !== null;
}

/** The key nearest to a misspelt one, among the given and all of the catalogue. */
export function nearestKey(key: string, observed: Iterable<string>): string | null {
  const withUnit = ['_ms', '_s'].map((unit) => key + unit).find(isCatalogueKey);
  if (withUnit !== undefined) return withUnit;
  const own = key.slice(0, Math.max(0, key.indexOf('_')));
  const statistics = ['mean', 'median', 'std', 'p99', ...(parseStatistic(own) === null ? [] : [own])];
  const known = distributionStems.flatMap((stem) => statistics.map((statistic) => `${statistic}_${stem}`));
  // Keys come from files; one with other characters is no word to suggest.
  const words = [...observed].filter((each) => /^[\w.-]+$/.test(each));
  return nearestName(key, [...words, ...known, ...runKeys]);
}
