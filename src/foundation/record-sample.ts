/** What is computed of a sample: its mean, or a percentile by linear interpolation (numpy's default). */
export type Statistic = 'mean' | { readonly percentile: number };

/**
 * A sample whose values belong to records, some to none and some to many, and the statistics wanted of it. Resampling
 * draws records and never single values: those of one request depend on each other.
 */
export type RecordSample = {
  /** Ascending. */
  readonly values: Float64Array;
  /** The record of each value. */
  readonly owners: Uint32Array;
  readonly statistics: readonly Statistic[];
};

/**
 * @param valuesOf values of each record, in order of the records
 */
export function recordSample(
  valuesOf: readonly ArrayLike<number>[],
  statistics: readonly Statistic[],
): RecordSample {
  const count = valuesOf.reduce((sum, { length }) => sum + length, 0);
  const flat = new Float64Array(count);
  const flatOwners = new Uint32Array(count);
  let at = 0;
  for (const [record, own] of valuesOf.entries()) {
    for (let i = 0; i < own.length; i += 1, at += 1) {
      flat[at] = own[i] ?? Number.NaN;
      flatOwners[at] = record;
    }
  }
  const order = new Uint32Array(count).map((_, i) => i);
  order.sort((a, b) => (flat[a] as number) - (flat[b] as number));
  return {
    values: Float64Array.from(order, (i) => flat[i] as number),
    owners: Uint32Array.from(order, (i) => flatOwners[i] as number),
    statistics,
  };
}

/**
 * The sample's statistics over records taken `weights` times.
 * @param into receives one number per statistic; NaN where no value has weight
 */
export function weighStatistics(sample: RecordSample, weights: Uint16Array, into: Float64Array): void {
  const { values, owners, statistics } = sample;
  let count = 0;
  let sum = 0;
  for (let i = 0; i < owners.length; i += 1) {
    const weight = weights[owners[i] as number] as number;
    count += weight;
    sum += weight * (values[i] as number);
  }
  for (const [index, statistic] of statistics.entries()) {
    if (count === 0) into[index] = Number.NaN;
    else if (statistic === 'mean') into[index] = sum / count;
    else {
      const rank = (statistic.percentile / 100) * (count - 1);
      into[index] = weighPercentile(sample, weights, { rank, count });
    }
  }
}

/** The value at a rank of the weighted sample; ranks between two values are interpolated. */
function weighPercentile(
  { values, owners }: RecordSample,
  weights: Uint16Array,
  { rank, count }: { readonly rank: number; readonly count: number },
): number {
  const low = Math.floor(rank);
  // Both walk from an end to the rank: the nearer one is soon there.
  const [below, above] =
    2 * rank < count
      ? neighboursFromStart(values, owners, weights, low)
      : neighboursFromEnd(values, owners, weights, { low, count });
  return rank === low ? below : below + (above - below) * (rank - low);
}

/** The values at the ranks `low` and `low + 1`; the former twice where it is the last. */
function neighboursFromStart(
  values: Float64Array,
  owners: Uint32Array,
  weights: Uint16Array,
  low: number,
): [below: number, above: number] {
  let seen = 0;
  let below = Number.NaN;
  for (let i = 0; i < owners.length; i += 1) {
    const weight = weights[owners[i] as number] as number;
    if (weight === 0) continue;
    seen += weight;
    const value = values[i] as number;
    if (Number.isNaN(below)) {
      if (seen <= low) continue;
      below = value;
    }
    if (seen > low + 1) return [below, value];
  }
  return [below, below];
}

/** The same of a sample of `count`, seen from its other end. */
function neighboursFromEnd(
  values: Float64Array,
  owners: Uint32Array,
  weights: Uint16Array,
  { low, count }: { readonly low: number; readonly count: number },
): [below: number, above: number] {
  let before = count;
  let above = Number.NaN;
  for (let i = owners.length - 1; i >= 0; i -= 1) {
    const weight = weights[owners[i] as number] as number;
    if (weight === 0) continue;
    before -= weight;
    const value = values[i] as number;
    if (Number.isNaN(above)) {
      if (before > low + 1) continue;
      above = value;
    }
    if (before <= low) return [value, above];
  }
  return [above, above];
}
