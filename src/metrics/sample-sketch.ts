import { percentileOfSorted } from '../foundation/statistics.ts';

/** The shape of a sample in a few hundred bytes, whatever its size: a histogram and a grid of exact percentiles. */
export type SampleSketch = {
  /** How the edges are spaced: `log` where the tail is long, so that both ends can be seen. */
  readonly scale: 'linear' | 'log';
  /** Ascending, one more than `counts`; a bin holds its lower edge, the last one its upper edge too. */
  readonly edges: readonly number[];
  readonly counts: readonly number[];
  /** Exact percentiles, ascending; the outermost are the extremes. Those that the sample is too small for are left out. */
  readonly quantiles: readonly (readonly [p: number, value: number])[];
};

/** A few values need few bins to show a shape. */
const fewestBins = 12;
const mostBins = 48;
/** A tail this many times as long as the median is drawn on a logarithmic scale. */
const longTail = 20;
const grid = [
  ...[0, 1, 2, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90],
  ...[92.5, 95, 96, 97, 98, 99, 99.5, 99.9, 99.95, 99.99, 99.999, 100],
];
/** Always there, so that tables can rely on them. */
const always = new Set([0, 50, 75, 90, 95, 99, 100]);

/**
 * @param sorted ascending
 * @returns `null` for an empty sample
 */
export function sketchOf(sorted: Float64Array): SampleSketch | null {
  const min = sorted[0];
  const max = sorted.at(-1);
  if (min === undefined || max === undefined) return null;
  const median = percentileOfSorted(sorted, 50) ?? min;
  const scale = min > 0 && max > longTail * median ? 'log' : 'linear';
  const bins = Math.min(mostBins, Math.max(fewestBins, Math.ceil(2 * Math.sqrt(sorted.length))));
  const edges = edgesOf([min, max], scale, bins);
  return {
    scale,
    edges,
    counts: countsOf(sorted, edges),
    quantiles: grid.flatMap((p) => {
      // A percentile between the last two samples says nothing that the maximum does not.
      const isSeen = always.has(p) || sorted.length * (1 - p / 100) >= 1;
      const value = isSeen ? percentileOfSorted(sorted, p) : null;
      return value === null ? [] : [[p, value] as const];
    }),
  };
}

function edgesOf(
  [min, max]: readonly [number, number],
  scale: SampleSketch['scale'],
  bins: number,
): number[] {
  if (min === max) return [min, max];
  return Array.from({ length: bins + 1 }, (_, i) => {
    if (i === bins) return max;
    const share = i / bins;
    return scale === 'log' ? min * (max / min) ** share : min + (max - min) * share;
  });
}

function countsOf(sorted: Float64Array, edges: readonly number[]): number[] {
  const counts: number[] = [];
  let below = 0;
  for (let i = 1; i < edges.length; i += 1) {
    const upTo = i === edges.length - 1 ? sorted.length : firstAtOrAbove(sorted, edges[i] ?? 0);
    counts.push(upTo - below);
    below = upTo;
  }
  return counts;
}

function firstAtOrAbove(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
