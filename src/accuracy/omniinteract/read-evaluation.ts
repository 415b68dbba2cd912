import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { InputFileError, messageOf } from '../../foundation/errors.ts';
import { isRow, type Row, textOf } from './annotation-values.ts';
import { evaluationSummaryFile } from './evaluate-omniinteract.ts';
import { type Counts, type F1Metric, f1Metric } from './f1-metric.ts';

/** Slices that are pooled beside the whole, as the paper's table has them. */
export const slices = ['realtime', 'proactive', 'nested', 'one_q1a_global', 'one_qna'] as const;
export type Slice = (typeof slices)[number];

/** The evaluation of one run, as far as pooling needs it. */
export type PooledRun = {
  /** Where it was read. */
  readonly path: string;
  readonly status: string;
  readonly status_reason: string | null;
  readonly evaluated: number;
  readonly metric: F1Metric;
};

/** An evaluation as it was read. */
export type ReadEvaluation = {
  readonly run: PooledRun;
  /** Its file, whichever name led there. */
  readonly realPath: string;
  /** Equal for the same evaluation in two files. */
  readonly content: string;
  /** Counts of each slice; `null` = the file does not state them. */
  readonly sliceCounts: Readonly<Record<Slice, Counts | null>>;
};

/**
 * Reads a run's evaluation: `unified_eval_summary.json`, the folder that holds it, or a result of the benchmark.
 * @throws InputFileError where there is none, or a count in it is none: what can't be read must not pass as 0
 */
export function readEvaluation(given: string): ReadEvaluation {
  const path = summaryPath(given);
  let value: unknown;
  let realPath: string;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
    realPath = realpathSync(path);
  } catch (cause) {
    throw new InputFileError(`${path}: the evaluation cannot be read: ${messageOf(cause)}`, { cause });
  }
  // A result of the benchmark holds the evaluation as one of its parts.
  const outer = isRow(value) && isRow(value.omniinteract) ? value.omniinteract.accuracy : value;
  if (!isRow(outer) || typeof outer.status !== 'string')
    throw new InputFileError(`${path}: it holds no evaluation of OmniInteract (no status).`);
  return { ...countsOfEvaluation(outer, outer.status, path), realPath, content: JSON.stringify(outer) };
}

/** The summary file of an evaluation, of an evaluation folder, or of a folder of artifacts. */
function summaryPath(path: string): string {
  const places = [join(path, evaluationSummaryFile), join(path, 'evaluation', evaluationSummaryFile)];
  try {
    if (!statSync(path).isDirectory()) return path;
  } catch {
    // Reading it says why not.
    return path;
  }
  return places.find((place) => existsSync(place)) ?? join(path, evaluationSummaryFile);
}

function countsOfEvaluation(
  outer: Row,
  status: string,
  path: string,
): Pick<ReadEvaluation, 'run' | 'sliceCounts'> {
  // An evaluation that broke off before anything was counted states nothing, and says so.
  const isBare = status !== 'ok' && outer.summary === undefined;
  const none = { tp: 0, fp: 0, fn: 0, slots: 0 };
  const { summary } = outer;
  const exp = isRow(summary) && isRow(summary.paper_metrics) ? summary.paper_metrics.exp_f1 : undefined;
  const sliceOf = (name: Slice): Counts | null => {
    if (isBare) return none;
    const metric = isRow(exp) ? exp[name] : undefined;
    // Some programs cut slices by subtraction, which can take a true positive too many.
    return metric === undefined
      ? null
      : readCounts(metric, `${path}: summary.paper_metrics.exp_f1.${name}`, Number.NEGATIVE_INFINITY);
  };
  const reason = textOf(outer.status_reason) || textOf(outer.error);
  return {
    run: {
      path,
      status,
      status_reason: reason === '' ? null : reason,
      evaluated: isBare && outer.evaluated === undefined ? 0 : wholeNumber(outer, 'evaluated', `${path}: `),
      metric: f1Metric(isBare ? none : readCounts(summary, `${path}: summary`, 0)),
    },
    sliceCounts: {
      realtime: sliceOf('realtime'),
      proactive: sliceOf('proactive'),
      nested: sliceOf('nested'),
      one_q1a_global: sliceOf('one_q1a_global'),
      one_qna: sliceOf('one_qna'),
    },
  };
}

/** @param leastTp true positives below it are none */
function readCounts(metric: unknown, where: string, leastTp: number): Counts {
  if (!isRow(metric))
    throw new InputFileError(
      `${where} is ${shown(metric)}; expected an object with num_slots, Global_TP, Global_FP and Global_FN.`,
    );
  const { Global_TP: tp } = metric;
  const slots = wholeNumber(metric, 'num_slots', `${where}.`);
  if (typeof tp !== 'number' || !Number.isFinite(tp) || tp < leastTp || tp > slots)
    throw new InputFileError(
      `${where}.Global_TP is ${shown(tp)}; expected a number from 0 to num_slots, ${slots}.`,
    );
  return {
    tp,
    fp: wholeNumber(metric, 'Global_FP', `${where}.`),
    fn: wholeNumber(metric, 'Global_FN', `${where}.`),
    slots,
  };
}

function wholeNumber(row: Row, key: string, where: string): number {
  const value = row[key];
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new InputFileError(`${where}${key} is ${shown(value)}; expected a whole number from 0.`);
}

function shown(value: unknown): string {
  if (value === undefined) return 'missing';
  if (typeof value === 'number') return String(value);
  return (JSON.stringify(value) ?? '').slice(0, 60);
}
