import {
  mean as meanOf,
  percentileOfSorted,
  populationStd,
  sortedCopy,
} from '../../foundation/statistics.ts';
import type { KeyStatistic } from './compare-key.ts';

/** The requests of one run, as far as its file has them: what is resampled. */
export type RunRecords = {
  /** Measured requests, failed ones too. */
  readonly count: number;
  /** 1 = failed; `null` = not told. */
  readonly failed: Uint8Array | null;
  /** By stem of the keys (`ttft_ms`): the values of each request in the unit of the stem; none where not observed. */
  readonly columns: ReadonlyMap<string, readonly ArrayLike<number>[]>;
};

/** One run that takes part in a comparison, whatever kind of file it came from. */
export type ComparedRun = {
  /** The file or folder, and the line where it holds several runs. */
  readonly source: string;
  /** Numbers by key of a result file; observed ones only. */
  readonly values: ReadonlyMap<string, number>;
  /** `null` = the file holds no request. */
  readonly records: RunRecords | null;
  /** What a reader should know of how the run was read. */
  readonly notes: readonly string[];
};

/** The runs of one side of a comparison. */
export type Side = {
  /** As named on the command line. */
  readonly label: string;
  readonly runs: readonly ComparedRun[];
};

/** Requests of a side over all its runs; `null` = some run of it holds none. */
export function requestCount(side: Side): number | null {
  let sum = 0;
  for (const { records } of side.runs) {
    if (records === null) return null;
    sum += records.count;
  }
  return sum;
}

/** A statistic of a sorted sample; `null` where it is empty. */
export function statisticOfSorted(sorted: Float64Array, statistic: KeyStatistic): number | null {
  if (statistic === 'mean') return meanOf(sorted);
  if (statistic === 'std') return populationStd(sorted);
  return percentileOfSorted(sorted, statistic === 'median' ? 50 : statistic.percentile);
}

/** Every value of a column, ascending. */
export function sortedColumn(column: readonly ArrayLike<number>[]): Float64Array {
  const flat = new Float64Array(column.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const values of column) {
    flat.set(values, at);
    at += values.length;
  }
  return sortedCopy(flat);
}
