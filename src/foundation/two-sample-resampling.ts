import type { Random } from './random.ts';
import { type RecordSample, weighStatistics } from './record-sample.ts';

/**
 * How statistics differ between two groups of records.
 * `ratio`: logarithm of second over first, for values that are all above 0; `difference`: second minus first.
 */
export type Scale = 'ratio' | 'difference';

/** Records 0…first−1 are the first group, the rest the second. */
export type Groups = { readonly first: number; readonly second: number };

export type ScaledSample = { readonly sample: RecordSample; readonly scale: Scale };

/** One statistic of one sample, in the order of the samples and of their statistics. */
export type Contrast = {
  readonly first: number;
  readonly second: number;
  /** On the sample's scale; NaN where one group has no value. */
  readonly change: number;
  /** Variance of each group's statistic on that scale, by the bootstrap. */
  readonly varianceFirst: number;
  readonly varianceSecond: number;
};

/** Differences under the hypothesis that the groups are alike: a row of contrasts for each shuffle of the records. */
export type NullDistribution = {
  /** Row by row. */
  readonly changes: Float64Array;
  readonly rows: number;
  readonly width: number;
};

export function contrastOf(first: number, second: number, scale: Scale): number {
  return scale === 'ratio' ? Math.log(second / first) : second - first;
}

function widthOf(samples: readonly ScaledSample[]): number {
  return samples.reduce((sum, { sample }) => sum + sample.statistics.length, 0);
}

/** All statistics of all samples under one weighting of the records. */
function evaluate(samples: readonly ScaledSample[], weights: Uint16Array, into: Float64Array): void {
  let at = 0;
  for (const { sample } of samples) {
    const { length } = sample.statistics;
    weighStatistics(sample, weights, into.subarray(at, at + length));
    at += length;
  }
}

function scalesOf(samples: readonly ScaledSample[]): Scale[] {
  return samples.flatMap(({ sample, scale }) => sample.statistics.map(() => scale));
}

/** Weight 1 for the records of one group. */
function groupWeights({ first, second }: Groups, ofFirst: boolean): Uint16Array {
  const weights = new Uint16Array(first + second);
  weights.fill(1, ofFirst ? 0 : first, ofFirst ? first : first + second);
  return weights;
}

/**
 * The contrasts that were seen, with the variances of their two sides by the bootstrap over records.
 * @param random drawn from in a fixed order: one seed, one result
 */
export function contrasts(
  samples: readonly ScaledSample[],
  groups: Groups,
  { random, replicates }: { readonly random: Random; readonly replicates: number },
): Contrast[] {
  const scales = scalesOf(samples);
  const width = widthOf(samples);
  const sides = [true, false].map((ofFirst) => {
    const seen = new Float64Array(width);
    evaluate(samples, groupWeights(groups, ofFirst), seen);
    const from = ofFirst ? 0 : groups.first;
    const size = ofFirst ? groups.first : groups.second;
    return {
      seen,
      variances: bootstrapVariances(samples, { from, size, scales, random, replicates, groups }),
    };
  });
  const [first, second] = sides;
  if (!first || !second) throw new Error('two sides');
  return scales.map((scale, i) => {
    const a = first.seen[i] as number;
    const b = second.seen[i] as number;
    return {
      first: a,
      second: b,
      change: contrastOf(a, b, scale),
      varianceFirst: first.variances[i] as number,
      varianceSecond: second.variances[i] as number,
    };
  });
}

function bootstrapVariances(
  samples: readonly ScaledSample[],
  plan: {
    readonly from: number;
    readonly size: number;
    readonly scales: readonly Scale[];
    readonly random: Random;
    readonly replicates: number;
    readonly groups: Groups;
  },
): Float64Array {
  const { from, size, scales, random, replicates, groups } = plan;
  const width = scales.length;
  const weights = new Uint16Array(groups.first + groups.second);
  const row = new Float64Array(width);
  const counts = new Float64Array(width);
  const means = new Float64Array(width);
  const squares = new Float64Array(width);
  for (let replicate = 0; replicate < replicates; replicate += 1) {
    weights.fill(0);
    for (let i = 0; i < size; i += 1) {
      const drawn = from + random.integer(0, size - 1);
      weights[drawn] = (weights[drawn] as number) + 1;
    }
    evaluate(samples, weights, row);
    for (let i = 0; i < width; i += 1) {
      const value = scales[i] === 'ratio' ? Math.log(row[i] as number) : (row[i] as number);
      if (!Number.isFinite(value)) continue;
      // Welford: the values may lie close together far from 0.
      const n = (counts[i] as number) + 1;
      const off = value - (means[i] as number);
      counts[i] = n;
      means[i] = (means[i] as number) + off / n;
      squares[i] = (squares[i] as number) + off * (value - (means[i] as number));
    }
  }
  return squares.map((sum, i) => sum / Math.max(1, (counts[i] as number) - 1));
}

/**
 * The contrasts of records dealt anew to the two groups. All samples see the same deal, so that the rows hold how the
 * statistics depend on each other.
 */
export function shuffledContrasts(
  samples: readonly ScaledSample[],
  groups: Groups,
  { random, replicates }: { readonly random: Random; readonly replicates: number },
): NullDistribution {
  const scales = scalesOf(samples);
  const width = scales.length;
  const total = groups.first + groups.second;
  const records = new Uint32Array(total).map((_, i) => i);
  const inFirst = new Uint16Array(total);
  const inSecond = new Uint16Array(total);
  const first = new Float64Array(width);
  const second = new Float64Array(width);
  const changes = new Float64Array(width * replicates);
  for (let replicate = 0; replicate < replicates; replicate += 1) {
    inFirst.fill(0);
    inSecond.fill(1);
    for (let i = 0; i < groups.first; i += 1) {
      const j = random.integer(i, total - 1);
      const chosen = records[j] as number;
      records[j] = records[i] as number;
      records[i] = chosen;
      inFirst[chosen] = 1;
      inSecond[chosen] = 0;
    }
    evaluate(samples, inFirst, first);
    evaluate(samples, inSecond, second);
    for (let i = 0; i < width; i += 1)
      changes[replicate * width + i] = contrastOf(
        first[i] as number,
        second[i] as number,
        scales[i] ?? 'ratio',
      );
  }
  return { changes, rows: replicates, width };
}

/** Standard deviation of each contrast over the shuffles; 0 where it never varied. */
export function nullDeviations({ changes, rows, width }: NullDistribution): Float64Array {
  return new Float64Array(width).map((_, column) => {
    let count = 0;
    let squares = 0;
    for (let row = 0; row < rows; row += 1) {
      const value = changes[row * width + column] as number;
      if (!Number.isFinite(value)) continue;
      count += 1;
      // Around 0: the expectation under the hypothesis.
      squares += value * value;
    }
    return count === 0 ? 0 : Math.sqrt(squares / count);
  });
}

/**
 * The value that the largest standardised contrast of a family stays below with probability 1 − `error` while all
 * groups are alike: the family's critical value (max-T of Westfall and Young, single step).
 * @param columns the family; contrasts that never varied are left out
 * @returns Infinity where nothing varied or there are too few shuffles to speak
 */
export function familyCriticalValue(
  distribution: NullDistribution,
  columns: readonly number[],
  { deviations, error }: { readonly deviations: Float64Array; readonly error: number },
): number {
  const live = columns.filter((column) => (deviations[column] as number) > 0);
  const { changes, rows, width } = distribution;
  const rank = Math.ceil((1 - error) * (rows + 1)) - 1;
  if (live.length === 0 || rank >= rows) return Number.POSITIVE_INFINITY;
  const largest = new Float64Array(rows).map((_, row) => {
    let most = 0;
    for (const column of live) {
      const size = Math.abs(changes[row * width + column] as number) / (deviations[column] as number);
      if (size > most) most = size;
    }
    return most;
  });
  return largest.sort()[rank] as number;
}
