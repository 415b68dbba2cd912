import { mean } from '../../foundation/statistics.ts';

/** What several runs of one side say of a statistic. */
export type RunStatistics = {
  /** One value per run; fewer than two say nothing of the scatter between runs. */
  readonly values: readonly number[];
  /** Variance of the side's pooled statistic as its requests explain it. */
  readonly variance: number;
};

export type BetweenRuns = {
  /** What the scatter between runs adds to the variance of the difference of both sides. */
  readonly variance: number;
  readonly freedom: number;
};

function squaresOf(values: readonly number[]): { squares: number; freedom: number } {
  const centre = mean(values) ?? 0;
  return {
    squares: values.reduce((sum, value) => sum + (value - centre) ** 2, 0),
    freedom: Math.max(0, values.length - 1),
  };
}

/**
 * Variance between runs beyond that of their requests, by the method of moments over both sides (DerSimonian and
 * Laird's idea for one pair of groups).
 * @returns `null` where no side has two runs
 */
export function betweenRuns(first: RunStatistics, second: RunStatistics): BetweenRuns | null {
  const a = squaresOf(first.values);
  const b = squaresOf(second.values);
  const freedom = a.freedom + b.freedom;
  if (freedom === 0) return null;
  const seen = (a.squares + b.squares) / freedom;
  // A run has 1/n of the requests of n runs, so n times their variance.
  const explained =
    (a.freedom * first.values.length * first.variance + b.freedom * second.values.length * second.variance) /
    freedom;
  const excess = Math.max(0, seen - explained);
  const share = 1 / Math.max(1, first.values.length) + 1 / Math.max(1, second.values.length);
  return { variance: excess * share, freedom };
}
