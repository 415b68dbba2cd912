import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, OmnimeterError } from '../../foundation/errors.ts';
import { type JudgeCalls, JudgeClient, type JudgeTarget } from '../judge/judge-client.ts';
import { prepareOutputFolder, writeJsonFile } from '../write-json-file.ts';
import { isRow, type Row } from './annotation-values.ts';
import { type CaseInputs, evaluateCase, readCaseInputs } from './evaluate-case.ts';
import type { CaseEvaluation, EvaluationCase, LeftOut } from './evaluation-case.ts';
import type { JudgePrompts } from './judge-prompts.ts';
import { ownPrompts } from './own-prompts.ts';
import type { SlotJudge } from './score-slot.ts';
import { offScaleScoresOf, outcomeOf } from './slot-row.ts';
import { type AccuracySummary, summarizeSlots } from './summarize-slots.ts';
import type { TimingPrecision } from './transcript.ts';

/** The file of all cases together, in the evaluation folder. */
export const evaluationSummaryFile = 'unified_eval_summary.json';

export type EvaluationOptions = {
  readonly cases: readonly EvaluationCase[];
  /** Cases of the run that are not to be judged: failed, or not eligible. */
  readonly skipped: number;
  readonly outputDir: string;
  /** Cases that are judged at the same time. */
  readonly workers: number;
  /** Take over what is stored already, where it was made from the same inputs. */
  readonly skipExisting: boolean;
  readonly judge: Omit<JudgeTarget, 'temperature'>;
  /** `null` = our own. */
  readonly prompts: JudgePrompts | null;
  readonly progress?: (done: number, total: number) => void;
  /** Waits between two requests of one question. */
  readonly sleep?: (ms: number) => Promise<void>;
  /** Hears why it takes long. */
  readonly say?: (line: string) => void;
};

type Item = {
  readonly sample_id: string;
  readonly status: 'ok';
  readonly summary: unknown;
  readonly timing_precision: string;
  readonly left_out: LeftOut;
};
type Failure = { readonly sample_id: string; readonly status: 'failed'; readonly error: string };

/** The evaluation of a run: what the summary file holds. */
export type OmniInteractAccuracy = {
  /** `partial`: some cases could not be judged; `failed`: none could, or there was none. */
  readonly status: 'ok' | 'partial' | 'failed';
  readonly judge_model: string;
  readonly judge_base_url: string;
  readonly protocol_source: string;
  readonly total: number;
  readonly evaluated: number;
  readonly failed: number;
  readonly skipped: number;
  readonly timing_precision: TimingPrecision;
  readonly summary: AccuracySummary;
  readonly items: readonly (Item | Failure)[];
  /** Why the status is not ok; `null` = it is. */
  readonly status_reason: string | null;
  /** Cases among `evaluated` whose stored evaluation was taken over. */
  readonly reused: number;
  readonly judge_calls: Readonly<JudgeCalls>;
  /** Scores that the judge gave off the scale of 0 to 1, and that count as its nearer end. */
  readonly off_scale_scores: number;
  /** Over all evaluated cases. */
  readonly left_out: LeftOut;
};

type Outcome =
  | { readonly kind: 'judged' | 'reused'; readonly evaluation: Row }
  | { readonly kind: 'failed'; readonly failure: Failure };

/**
 * Judges the cases of a run, stores each, and sums them up in `unified_eval_summary.json`. A case that cannot be judged
 * fails alone.
 * @throws UsageError where nothing can be written to the output folder; no judge was asked then
 * @throws OutputFileError where the summary cannot be written
 */
export async function evaluateOmniInteract(options: EvaluationOptions): Promise<OmniInteractAccuracy> {
  prepareOutputFolder(options.outputDir, '--omniinteract-eval-output-dir');
  const client = new JudgeClient({ ...options.judge, temperature: 0 }, options.sleep, options.say);
  const judge = { client, prompts: options.prompts ?? ownPrompts };
  try {
    const outcomes = await inParallel(options, (which) => judgeOne(which, judge, options));
    const accuracy = summarize(outcomes, options, judge);
    writeJsonFile(join(options.outputDir, evaluationSummaryFile), accuracy);
    return accuracy;
  } finally {
    await client.close();
  }
}

async function inParallel(
  { cases, workers, progress }: EvaluationOptions,
  work: (which: EvaluationCase) => Promise<Outcome>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let next = 0;
  let done = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < cases.length; i = next++) {
      outcomes[i] = await work(cases[i] as EvaluationCase);
      done += 1;
      progress?.(done, cases.length);
    }
  };
  await Promise.all(Array.from({ length: Math.min(workers, cases.length) }, worker));
  return outcomes;
}

async function judgeOne(
  which: EvaluationCase,
  judge: SlotJudge,
  { outputDir, skipExisting }: EvaluationOptions,
): Promise<Outcome> {
  const path = join(outputDir, `${which.sampleId}.unified_eval.json`);
  try {
    const inputs = readCaseInputs(which, judge);
    const stored = skipExisting ? storedEvaluation(path, inputs) : null;
    if (stored !== null) return { kind: 'reused', evaluation: stored };
    const evaluation: CaseEvaluation = await evaluateCase(which, inputs, judge);
    writeJsonFile(path, evaluation);
    return { kind: 'judged', evaluation };
  } catch (error) {
    // Files of this case, its judge, or the disk; anything else is a bug and shows itself.
    if (!(error instanceof OmnimeterError)) throw error;
    return {
      kind: 'failed',
      failure: { sample_id: which.sampleId, status: 'failed', error: messageOf(error) },
    };
  }
}

/** A stored evaluation of exactly these inputs that can still be summed up. */
function storedEvaluation(path: string, { fingerprint }: CaseInputs): Row | null {
  if (!existsSync(path)) return null;
  try {
    const stored: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (!isRow(stored) || stored.status !== 'ok' || !isRow(stored.inputs_fingerprint)) return null;
    const { inputs_fingerprint: made } = stored;
    const isSame = Object.entries(fingerprint).every(([key, value]) => made[key] === value);
    const slots = Array.isArray(stored.slots) ? stored.slots.map(outcomeOf) : [];
    const isWhole = slots.length > 0 && !slots.includes(null) && isRow(stored.left_out);
    return isSame && isWhole ? stored : null;
  } catch {
    return null;
  }
}

function summarize(
  outcomes: readonly Outcome[],
  options: EvaluationOptions,
  { client, prompts }: SlotJudge,
): OmniInteractAccuracy {
  const evaluations = outcomes.flatMap((each) => (each.kind === 'failed' ? [] : [each.evaluation]));
  const failures = outcomes.flatMap((each) => (each.kind === 'failed' ? [each.failure] : []));
  const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
  const slots = evaluations
    .flatMap(({ slots }) => list(slots).map(outcomeOf))
    .filter((slot) => slot !== null);
  const unmatched = evaluations.reduce((sum, { unmatched_chunks }) => sum + list(unmatched_chunks).length, 0);
  const isAligned = evaluations.every(({ timing_precision }) => timing_precision === 'word-aligned');
  const total = options.cases.length + options.skipped;
  return {
    status: evaluations.length === 0 ? 'failed' : failures.length === 0 ? 'ok' : 'partial',
    judge_model: client.target.model,
    judge_base_url: client.target.baseUrl,
    protocol_source: prompts.protocolSource,
    total,
    evaluated: evaluations.length,
    failed: failures.length,
    skipped: options.skipped,
    timing_precision: evaluations.length > 0 && isAligned ? 'word-aligned' : 'chunk-level-approximate',
    summary: summarizeSlots(slots, unmatched),
    items: [...evaluations.map(itemOf), ...failures],
    status_reason: reasonOf(failures, options),
    reused: outcomes.filter(({ kind }) => kind === 'reused').length,
    judge_calls: client.calls,
    off_scale_scores: evaluations
      .flatMap(({ slots }) => list(slots))
      .reduce<number>((sum, row) => sum + offScaleScoresOf(row), 0),
    left_out: sumLeftOut(evaluations.map(leftOutOf)),
  };
}

function leftOutOf({ left_out }: Row): LeftOut {
  const row = isRow(left_out) ? left_out : {};
  const of = (value: unknown): number => (typeof value === 'number' ? value : 0);
  return {
    annotation_rows: of(row.annotation_rows),
    transcript_chunks: of(row.transcript_chunks),
    transcript_words: of(row.transcript_words),
  };
}

function sumLeftOut(list: readonly LeftOut[]): LeftOut {
  const sum = { annotation_rows: 0, transcript_chunks: 0, transcript_words: 0 };
  for (const { annotation_rows, transcript_chunks, transcript_words } of list) {
    sum.annotation_rows += annotation_rows;
    sum.transcript_chunks += transcript_chunks;
    sum.transcript_words += transcript_words;
  }
  return sum;
}

function itemOf(evaluation: Row): Item {
  return {
    sample_id: String(evaluation.sample_id),
    status: 'ok',
    summary: evaluation.summary,
    timing_precision: String(evaluation.timing_precision),
    left_out: leftOutOf(evaluation),
  };
}

/** How many cases failed and why, each reason once. */
function reasonOf(failures: readonly Failure[], { cases, skipped }: EvaluationOptions): string | null {
  const total = cases.length;
  if (total === 0)
    return `there is no case to judge${skipped > 0 ? `: none of the run's ${skipped} cases succeeded and is eligible` : ''}`;
  if (failures.length === 0) return null;
  const reasons = [...new Set(failures.map(({ error }) => error))];
  const more = reasons.length > 3 ? [`and ${reasons.length - 3} other reasons`] : [];
  return `${failures.length} of ${total} cases could not be judged: ${[...reasons.slice(0, 3), ...more].join('; ')}`;
}
