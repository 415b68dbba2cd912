import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { InputFileError, messageOf } from '../../foundation/errors.ts';
import { isRow, type Row, textOf } from './annotation-values.ts';
import { evaluationSummaryFile } from './evaluate-omniinteract.ts';
import { type Counts, countsOf, type F1Metric, f1Metric, sumCounts } from './f1-metric.ts';

/** Slices that are pooled beside the whole, as the paper's table has them. */
const slices = ['realtime', 'proactive', 'nested', 'one_q1a_global', 'one_qna'] as const;

/** The evaluation of one run, as far as pooling needs it. */
export type PooledRun = {
  /** Where it was read. */
  readonly path: string;
  readonly status: string;
  readonly status_reason: string | null;
  readonly evaluated: number;
  readonly metric: F1Metric;
};

/** Several runs, one per subset, as one. */
export type PooledAccuracy = {
  readonly runs: readonly PooledRun[];
  readonly pooled: F1Metric;
  readonly exp_f1: Readonly<Record<string, F1Metric>>;
  /** The least IA-QTF1 that passes; `null` = none was asked for. */
  readonly min_ia_qtf1: number | null;
  /** What does not hold; empty = the gate is passed. */
  readonly broken: readonly string[];
};

/**
 * Adds the counts of several runs and computes the score of all of them. Beside the least score the gate asks that
 * every run was judged without a failure, and that each judged at least one case: a run with nothing to judge would
 * otherwise pass as one without faults.
 * @throws InputFileError for a file that is no evaluation
 */
export function poolEvaluations(paths: readonly string[], minIaQtf1: number | null): PooledAccuracy {
  const read = paths.map(readRun);
  const runs = read.map(({ run }) => run);
  const pooled = f1Metric(sumCounts(runs.map(({ metric }) => countsOf(metric))));
  const exp = slices.map(
    (name) => [name, f1Metric(sumCounts(read.map(({ exp_f1 }) => metricCounts(exp_f1[name]))))] as const,
  );
  return {
    runs,
    pooled,
    exp_f1: Object.fromEntries(exp),
    min_ia_qtf1: minIaQtf1,
    broken: minIaQtf1 === null ? [] : [...runs.flatMap(faultsOf), ...tooLow(pooled, minIaQtf1)],
  };
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

/** The summary file of an evaluation, of an evaluation folder, or of a folder of artifacts. */
function summaryPath(path: string): string {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  const places = [join(path, evaluationSummaryFile), join(path, 'evaluation', evaluationSummaryFile)];
  return places.find((place) => existsSync(place)) ?? join(path, evaluationSummaryFile);
}

function readRun(given: string): { run: PooledRun; exp_f1: Row } {
  const path = summaryPath(given);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new InputFileError(`${path}: the evaluation cannot be read: ${messageOf(cause)}`, { cause });
  }
  // A result of the benchmark holds the evaluation as one of its parts.
  const outer = isRow(value) && isRow(value.omniinteract) ? value.omniinteract.accuracy : value;
  if (!isRow(outer) || typeof outer.status !== 'string')
    throw new InputFileError(`${path}: it holds no evaluation of OmniInteract (no status).`);
  const summary = isRow(outer.summary) ? outer.summary : {};
  const paper = isRow(summary.paper_metrics) ? summary.paper_metrics : {};
  const reason = textOf(outer.status_reason) || textOf(outer.error);
  return {
    run: {
      path,
      status: outer.status,
      status_reason: reason === '' ? null : reason,
      evaluated: typeof outer.evaluated === 'number' ? outer.evaluated : 0,
      metric: f1Metric(metricCounts(summary)),
    },
    exp_f1: isRow(paper.exp_f1) ? paper.exp_f1 : {},
  };
}

function metricCounts(metric: unknown): Counts {
  const row = isRow(metric) ? metric : {};
  const of = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0);
  return { tp: of(row.Global_TP), fp: of(row.Global_FP), fn: of(row.Global_FN), slots: of(row.num_slots) };
}
