/**
 * Percentile by nearest rank: the smallest value that at least the given share of the sample does not exceed.
 * @param sorted ascending
 * @param ratio 0…1
 * @returns `null` for an empty sample
 */
export function nearestRank(sorted: ArrayLike<number>, ratio: number): number | null {
  return sorted[Math.max(0, Math.ceil(ratio * sorted.length) - 1)] ?? null;
}

/** Rounded to so many decimals, as result files want their figures. */
export function roundTo(value: number, decimals: number): number {
  const scale = 10 ** decimals;
  return Math.round(value * scale) / scale;
}
