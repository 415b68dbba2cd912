import { UsageError } from '../../foundation/errors.ts';
import { countsOf, type F1Metric, f1Metric, sumCounts } from './f1-metric.ts';
import { type PooledRun, type ReadEvaluation, readEvaluation, slices } from './read-evaluation.ts';

/** Several runs, one per subset, as one. */
export type PooledAccuracy = {
  readonly runs: readonly PooledRun[];
  readonly pooled: F1Metric;
  /** By slice; one that some run does not state is left out, for its sum would be of the others alone. */
  readonly exp_f1: Readonly<Record<string, F1Metric>>;
  /** The least IA-QTF1 that passes; `null` = none was asked for. */
  readonly min_ia_qtf1: number | null;
  /** What does not hold; empty = the gate is passed. */
  readonly broken: readonly string[];
  /** What makes the sum doubtful although it can be computed. */
  readonly warnings: readonly string[];
};

/**
 * Adds the counts of several runs and computes the score of all of them. Beside the least score the gate asks that
 * every run was judged without a failure, and that each judged at least one case: a run with nothing to judge would
 * otherwise pass as one without faults.
 * @throws InputFileError for a file that is no evaluation, or one with a count that is none
 * @throws UsageError where a run is named twice
 */
export function poolEvaluations(paths: readonly string[], minIaQtf1: number | null): PooledAccuracy {
  const read = paths.map(readEvaluation);
  refuseTwice(read, paths);
  const runs = read.map(({ run }) => run);
  const pooled = f1Metric(sumCounts(runs.map(({ metric }) => countsOf(metric))));
  const exp = slices.flatMap((name) => {
    const stated = read.flatMap(({ sliceCounts }) => sliceCounts[name] ?? []);
    return stated.length < read.length ? [] : [[name, f1Metric(sumCounts(stated))] as const];
  });
  return {
    runs,
    pooled,
    exp_f1: Object.fromEntries(exp),
    min_ia_qtf1: minIaQtf1,
    broken: minIaQtf1 === null ? [] : [...runs.flatMap(faultsOf), ...tooLow(pooled, minIaQtf1)],
    warnings: warningsOf(read),
  };
}

/** The second of each two that are the same, with the first. */
function repeated(read: readonly ReadEvaluation[], key: 'realPath' | 'content'): [number, number][] {
  return read.flatMap((each, i): [number, number][] => {
    const first = read.findIndex((other) => other[key] === each[key]);
    return first < i ? [[first, i]] : [];
  });
}

function refuseTwice(read: readonly ReadEvaluation[], given: readonly string[]): void {
  for (const [first, second] of repeated(read, 'realPath'))
    throw new UsageError(
      `${given[second]} is the same run as ${given[first]}: ${read[second]?.realPath}. Name each run once; its counts would be added twice.`,
    );
}

function warningsOf(read: readonly ReadEvaluation[]): string[] {
  return repeated(read, 'content').map(
    ([first, second]) =>
      `${read[second]?.run.path} holds the very evaluation that ${read[first]?.run.path} holds. If they are one run, its counts are in the sum twice.`,
  );
}

function faultsOf({ path, status, status_reason, evaluated }: PooledRun): string[] {
  const why = status_reason === null ? '' : ` (${status_reason})`;
  return [
    ...(status === 'ok' ? [] : [`${path}: status is ${status} and not ok${why}`]),
    ...(evaluated > 0 ? [] : [`${path}: no case was judged`]),
  ];
}

function tooLow({ IA_QTF1 }: F1Metric, least: number): string[] {
  if (IA_QTF1 !== null && IA_QTF1 >= least) return [];
  return [`All Global IA-QTF1 is ${IA_QTF1 ?? 'not observed'}, below ${least}`];
}
