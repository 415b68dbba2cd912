import { normalUpperTail } from '../../foundation/normal-distribution.ts';
import { type Random, randomStream } from '../../foundation/random.ts';
import { recordSample, type Statistic } from '../../foundation/record-sample.ts';
import { sortedCopy } from '../../foundation/statistics.ts';
import { studentUpperQuantile } from '../../foundation/student-t.ts';
import {
  type Contrast,
  contrastOf,
  contrasts,
  familyCriticalValue,
  type Groups,
  nullDeviations,
  type Scale,
  type ScaledSample,
  shuffledContrasts,
} from '../../foundation/two-sample-resampling.ts';
import type { CompareKey, KeyStatistic } from './compare-key.ts';
import { requestCount, type Side, statisticOfSorted } from './compared-run.ts';
import { betweenRuns } from './run-variance.ts';

/** A change that was tested: flagged where 0 lies outside change ± halfWidth. */
export type TestedChange = {
  readonly scale: Scale;
  /** On the scale: ln(candidate/baseline), or candidate − baseline. */
  readonly change: number;
  readonly halfWidth: number;
};

export type ErrorShares = { readonly means: number; readonly others: number; readonly seed: number };

/** The key under which the share of failed requests is tested. */
export const failedKey = 'failed';

/** A sample larger than this is thinned for the resampling, evenly within each request. */
const sampleLimit = 200_000;
/** Values that all shuffles together may visit: some seconds on one core. */
const visitBudget = 1.5e9;

type Tested = { readonly key: CompareKey; readonly statistic: Statistic };
type Family = { readonly samples: readonly ScaledSample[]; readonly tested: readonly Tested[] };

/**
 * Tests what can be computed from the requests of both sides: a critical value for all means and one for all other
 * statistics (medians, percentiles), by shuffling requests between the sides. Where a side has several runs, the
 * scatter between runs that requests do not explain widens the intervals.
 * @param keys the statistics of interest; those that cannot be tested are left out of the result
 */
export function recordTests(
  baseline: Side,
  candidate: Side,
  keys: readonly CompareKey[],
  shares: ErrorShares,
): Map<string, TestedChange> {
  const first = requestCount(baseline);
  const second = requestCount(candidate);
  if (first === null || second === null || first < 2 || second < 2) return new Map();
  const family = familyOf([...baseline.runs, ...candidate.runs], keys);
  if (family.tested.length === 0) return new Map();
  return testFamily(family, { first, second }, { baseline, candidate, shares });
}

function familyOf(runs: Side['runs'], keys: readonly CompareKey[]): Family {
  const samples: ScaledSample[] = [];
  const tested: Tested[] = [];
  const byStem = new Map<string, Tested[]>();
  for (const key of keys) {
    const statistic = resampled(key.statistic);
    if (key.stem === null || statistic === null || key.better === 'neither') continue;
    byStem.set(key.stem, [...(byStem.get(key.stem) ?? []), { key, statistic }]);
  }
  for (const [stem, ofStem] of byStem) {
    const valuesOf = valuesOfAll(runs, stem);
    if (valuesOf === null) continue;
    const sample = recordSample(
      valuesOf,
      ofStem.map(({ statistic }) => statistic),
    );
    const least = sample.values[0] ?? 0;
    samples.push({ sample, scale: least > 0 ? 'ratio' : 'difference' });
    tested.push(...ofStem);
  }
  addFailures(runs, keys, samples, tested);
  return { samples, tested };
}

function resampled(statistic: KeyStatistic | null): Statistic | null {
  if (statistic === null || statistic === 'std') return null;
  return statistic === 'median' ? { percentile: 50 } : statistic;
}

function valuesOfAll(runs: Side['runs'], stem: string): ArrayLike<number>[] | null {
  const columns: (readonly ArrayLike<number>[])[] = [];
  for (const { records } of runs) {
    const column = records?.columns.get(stem);
    if (column === undefined) return null;
    columns.push(column);
  }
  const all = columns.flat();
  const count = all.reduce((sum, { length }) => sum + length, 0);
  const stride = Math.ceil(count / sampleLimit);
  return stride <= 1 || count <= all.length
    ? all
    : all.map((values, i) => everyNth(values, stride, i % stride));
}

function everyNth(values: ArrayLike<number>, stride: number, from: number): Float64Array {
  const kept = new Float64Array(Math.max(0, Math.ceil((values.length - from) / stride)));
  for (let i = 0; i < kept.length; i += 1) kept[i] = values[from + i * stride] ?? Number.NaN;
  return kept;
}

/** The share of failed requests, where any failed. */
function addFailures(
  runs: Side['runs'],
  keys: readonly CompareKey[],
  samples: ScaledSample[],
  tested: Tested[],
): void {
  const key = keys.find((each) => each.key === failedKey);
  if (!key) return;
  const flags: number[][] = [];
  for (const { records } of runs) {
    if (!records?.failed) return;
    flags.push(...Array.from(records.failed, (failed) => [failed]));
  }
  // Without a failure there is nothing to test, only shuffles to pay for.
  if (flags.every(([failed]) => failed === 0)) return;
  samples.push({ sample: recordSample(flags, ['mean']), scale: 'difference' });
  tested.push({ key, statistic: 'mean' });
}

function testFamily(
  { samples, tested }: Family,
  groups: Groups,
  { baseline, candidate, shares }: { baseline: Side; candidate: Side; shares: ErrorShares },
): Map<string, TestedChange> {
  const visits = samples.reduce((sum, { sample }) => sum + 4 * (groups.first + sample.values.length), 0);
  const replicates = Math.round(Math.min(4000, Math.max(600, visitBudget / visits)));
  const streams = (purpose: string): Random => randomStream(shares.seed, `compare ${purpose}`);
  const seen = contrasts(samples, groups, {
    random: streams('bootstrap'),
    replicates: Math.min(500, Math.max(100, Math.round(replicates / 5))),
  });
  const shuffled = shuffledContrasts(samples, groups, { random: streams('shuffles'), replicates });
  const deviations = nullDeviations(shuffled);
  const columnsWhere = (wanted: boolean): number[] =>
    tested.flatMap(({ statistic }, i) => ((statistic === 'mean') === wanted ? [i] : []));
  const ofMeans = familyCriticalValue(shuffled, columnsWhere(true), { deviations, error: shares.means });
  const ofOthers = familyCriticalValue(shuffled, columnsWhere(false), { deviations, error: shares.others });
  const scales = samples.flatMap(({ sample, scale }) => sample.statistics.map(() => scale));
  const results = new Map<string, TestedChange>();
  for (const [i, { key, statistic }] of tested.entries()) {
    const contrast = seen[i];
    const scale = scales[i];
    const deviation = deviations[i] ?? 0;
    const critical = statistic === 'mean' ? ofMeans : ofOthers;
    if (!contrast || !scale || !Number.isFinite(contrast.change) || !Number.isFinite(critical)) continue;
    if (deviation === 0) continue;
    const halfWidth = halfWidthOf(contrast, { key, scale, deviation, critical, baseline, candidate });
    results.set(key.key, { scale, change: contrast.change, halfWidth });
  }
  return results;
}

/**
 * The shuffles speak for groups that are alike, the bootstrap for groups that are not: the wider of the two. Runs that
 * differ by more than their requests explain add their variance, with the few degrees of freedom that it has.
 */
function halfWidthOf(
  contrast: Contrast,
  of: {
    readonly key: CompareKey;
    readonly scale: Scale;
    readonly deviation: number;
    readonly critical: number;
    readonly baseline: Side;
    readonly candidate: Side;
  },
): number {
  const within = Math.max(of.deviation ** 2, contrast.varianceFirst + contrast.varianceSecond);
  const between = betweenRuns(
    { values: runValues(of.baseline, of.key, of.scale), variance: contrast.varianceFirst },
    { values: runValues(of.candidate, of.key, of.scale), variance: contrast.varianceSecond },
  );
  if (between === null || between.variance === 0) return of.critical * Math.sqrt(within);
  const total = within + between.variance;
  // Satterthwaite: the part that requests give has ample degrees of freedom, the rest those of the runs.
  const freedom = (total / between.variance) ** 2 * between.freedom;
  const critical = studentUpperQuantile(normalUpperTail(of.critical), freedom);
  return critical * Math.sqrt(total);
}

function runValues(side: Side, key: CompareKey, scale: Scale): number[] {
  if (side.runs.length < 2) return [];
  return side.runs.flatMap(({ records }) => {
    const value = runValue(records, key);
    if (value === null) return [];
    return [scale === 'ratio' ? contrastOf(1, value, 'ratio') : value];
  });
}

function runValue(records: Side['runs'][number]['records'], key: CompareKey): number | null {
  if (key.key === failedKey)
    return records?.failed ? records.failed.reduce((sum, one) => sum + one, 0) / records.count : null;
  const column = key.stem === null ? undefined : records?.columns.get(key.stem);
  if (!column || key.statistic === null) return null;
  return statisticOfSorted(sortedCopy(column.flatMap((values) => Array.from(values))), key.statistic);
}
