import { sortDoubles } from './sort-doubles.ts';

/** Arithmetic mean; `null` for an empty sample. */
export function mean(values: ArrayLike<number>): number | null {
  if (values.length === 0) return null;
  let sum = 0;
  for (let i = 0; i < values.length; i += 1) sum += values[i] as number;
  return sum / values.length;
}

/** Population standard deviation (ddof 0, as numpy's `std`); `null` for an empty sample. */
export function populationStd(values: ArrayLike<number>): number | null {
  const centre = mean(values);
  if (centre === null) return null;
  let squares = 0;
  for (let i = 0; i < values.length; i += 1) squares += ((values[i] as number) - centre) ** 2;
  return Math.sqrt(squares / values.length);
}

/** A sorted copy, as the percentile functions want it. */
export function sortedCopy(values: ArrayLike<number>): Float64Array {
  return sortDoubles(new Float64Array(values));
}

/**
 * Exact percentile by linear interpolation at rank p/100·(n−1), numpy's default method.
 * @param sorted ascending
 * @param p 0…100
 * @returns `null` for an empty sample
 */
export function percentileOfSorted(sorted: ArrayLike<number>, p: number): number | null {
  const last = sorted.length - 1;
  if (last < 0) return null;
  const rank = (Math.min(100, Math.max(0, p)) / 100) * last;
  const low = Math.floor(rank);
  const below = sorted[low] as number;
  const above = sorted[Math.min(low + 1, last)] as number;
  return below + (above - below) * (rank - low);
}

/** What a report says of one sample. All `null` where the sample is empty: not observed is never 0. */
export type SampleSummary = {
  count: number;
  mean: number | null;
  median: number | null;
  std: number | null;
  min: number | null;
  max: number | null;
  /** In the order asked for: `[p, value]`. */
  percentiles: [p: number, value: number | null][];
};

/**
 * Mean, median, population std, extremes and exact percentiles of a sample.
 * @param sorted the same values ascending, where the caller has them: sorting is most of the work
 */
export function summarizeSample(
  values: ArrayLike<number>,
  percentiles: readonly number[],
  sorted: Float64Array = sortedCopy(values),
): SampleSummary {
  return summaryOf(mean(values), populationStd(values), sorted, percentiles);
}

/** The same without a copy: the values are sorted where they lie. */
export function summarizeInPlace(values: Float64Array, percentiles: readonly number[]): SampleSummary {
  return summaryOf(mean(values), populationStd(values), values.sort(), percentiles);
}

function summaryOf(
  meanValue: number | null,
  std: number | null,
  sorted: Float64Array,
  percentiles: readonly number[],
): SampleSummary {
  return {
    count: sorted.length,
    mean: meanValue,
    median: percentileOfSorted(sorted, 50),
    std,
    min: sorted[0] ?? null,
    max: sorted.at(-1) ?? null,
    percentiles: percentiles.map((p) => [p, percentileOfSorted(sorted, p)]),
  };
}
