import { isRow, type Row } from './annotation-values.ts';
import type { MatchedChunk } from './match-chunks.ts';
import type { CoreStage, EarlyStage, SlotScore } from './score-slot.ts';
import type { Slot } from './slot.ts';
import type { TranscriptChunk } from './transcript.ts';
import type { EarlyVerdict } from './verdicts.ts';

/** A slot's result as evaluation files hold it; the names are those of the official evaluation. */
export function slotRow(score: SlotScore, sampleId: string): Row {
  const { matched, early, core } = score;
  return {
    ...slotFields(matched.slot),
    t_a: matched.slot.answerS,
    num_chunks: matched.all.length,
    num_early: matched.early.length,
    num_core: matched.core.length,
    TP_ack: early.tp,
    TP_core: core.tp,
    Score_ack: early.tp,
    Score_core: core.tp,
    TP_n: score.tp,
    FP_delta: score.fp,
    FN_delta: score.fn,
    stage_early: earlyRow(early),
    stage_core: coreRow(core),
    spill: score.spillS > 0,
    spill_seconds: score.spillS,
    interruption_diagnostic: interruptionRow(score),
    all_chunks: matched.all.map(chunkRow),
    sample_id: sampleId,
  };
}

function slotFields(slot: Slot): Row {
  return {
    slot_id: slot.slotId,
    start: slot.startS,
    answer_time: slot.answerS,
    end: slot.endS,
    boundary_type: slot.boundaryType,
    question_text: slot.questionText,
    gt_answer: slot.referenceAnswer,
    scene_type: slot.sceneType,
    step_index: slot.stepIndex,
    turn_index: slot.turnIndex,
    question_type: slot.questionType,
    is_interrupted: slot.isInterrupted,
    label: slot.label,
    nested_group_id: slot.nestedGroupId,
    nested_role: slot.nestedRole,
  };
}

function earlyRow({ text, timeliness, weight, tp, verdict }: EarlyStage): Row {
  const category = verdict?.category ?? 'none';
  const stage = {
    category,
    actual_text: text,
    T_ack: timeliness,
    S_ack: verdict?.score ?? 0,
    W_ack_used: weight,
    TP_ack: tp,
  };
  return verdict === null ? stage : { ...stage, ...answerFields(verdict) };
}

function coreRow(core: CoreStage): Row {
  const { verdict } = core;
  const stage = {
    skipped_interrupted: core.skippedInterrupted,
    actual_text: core.text,
    answer_start: core.answerStartS,
    trigger_start: core.triggerStartS,
    trigger_phrase: verdict?.triggerPhrase ?? '',
    spoiler: verdict?.spoiler ?? false,
    T_core: core.timeliness,
    S_core: verdict?.score ?? 0,
    W_core_used: core.weight,
    TP_core: core.tp,
    low_quality_fp: core.isLowQuality,
  };
  return verdict === null ? stage : { ...stage, ...answerFields(verdict) };
}

function interruptionRow({ matched, partial, partialIsLow, spillS }: SlotScore): Row {
  if (!matched.slot.isInterrupted) return {};
  if (partial === null) return { status: 'no_output', has_output: false, spill_seconds: spillS };
  return {
    status: 'ok',
    has_output: true,
    partial_quality: partial.score,
    low_quality: partialIsLow,
    hallucination: partial.hallucination,
    spill_seconds: spillS,
    TP: partialIsLow ? 0 : partial.score,
    FP: Number(partialIsLow) + Number(partial.hallucination) + Number(spillS > 0),
    FN: Number(partialIsLow),
    ...answerFields(partial),
  };
}

type Answer = Pick<EarlyVerdict, 'rationale' | 'parseSource' | 'raw' | 'offScaleScore'>;

function answerFields({ rationale, parseSource, raw, offScaleScore }: Answer): Row {
  const answer = { rationale, parse_source: parseSource, raw };
  return offScaleScore === null ? answer : { ...answer, off_scale_score: offScaleScore };
}

/** How many of a slot's scores the judge gave off the scale. */
export function offScaleScoresOf(row: unknown): number {
  if (!isRow(row)) return 0;
  const answers = [row.stage_early, row.stage_core, row.interruption_diagnostic];
  return answers.filter((answer) => isRow(answer) && typeof answer.off_scale_score === 'number').length;
}

function wordRows(words: TranscriptChunk['words']): Row[] {
  return words.map(({ text, startS, endS }) => ({ text, start: startS, end: endS }));
}

function chunkRow(chunk: MatchedChunk): Row {
  const hint = chunk.effectiveStartHintS;
  return {
    source_chunk_id: chunk.sourceId,
    text: chunk.text,
    full_text: chunk.fullText,
    start: chunk.startS,
    end: chunk.endS,
    aligned_words: wordRows(chunk.words),
    ...(hint === null ? {} : { effective_start_hint: hint }),
  };
}

/** A chunk that belongs to no slot, as evaluation files hold it. */
export function unmatchedRow({ sourceId, text, startS, endS, words }: TranscriptChunk): Row {
  return { source_chunk_id: sourceId, text, start: startS, end: endS, aligned_words: wordRows(words) };
}

/** What aggregation needs of a slot. */
export type SlotOutcome = {
  readonly sampleId: string;
  readonly sceneType: string;
  readonly questionType: string;
  readonly nestedGroupId: number | null;
  readonly nestedRole: string | null;
  readonly isInterrupted: boolean;
  readonly tp: number;
  readonly fp: number;
  readonly fn: number;
  readonly coreTp: number;
  readonly answerStartS: number | null;
  readonly spillS: number;
  /** Of an interrupted slot: what was said is worth; `null` = nothing was said, or the slot is none. */
  readonly partialQuality: number | null;
};

/** Reads a slot's row back, one from another program too. `null` = it is none. */
export function outcomeOf(row: unknown): SlotOutcome | null {
  if (!isRow(row)) return null;
  const { TP_n, FP_delta, FN_delta, TP_core, spill_seconds, sample_id, scene_type, question_type } = row;
  const numbers = [TP_n, FP_delta, FN_delta, TP_core, spill_seconds];
  const isCount = (value: unknown): value is number =>
    typeof value === 'number' && Number.isFinite(value) && value >= 0;
  if (!numbers.every(isCount)) return null;
  const [tp = 0, fp = 0, fn = 0, coreTp = 0, spillS = 0] = numbers;
  const core = isRow(row.stage_core) ? row.stage_core : {};
  const diagnostic = isRow(row.interruption_diagnostic) ? row.interruption_diagnostic : {};
  return {
    sampleId: typeof sample_id === 'string' ? sample_id : '',
    sceneType: typeof scene_type === 'string' ? scene_type : 'unknown',
    questionType: typeof question_type === 'string' ? question_type.toLowerCase() : 'unknown',
    nestedGroupId: numberOrNull(row.nested_group_id),
    nestedRole: typeof row.nested_role === 'string' ? row.nested_role : null,
    isInterrupted: row.is_interrupted === true,
    tp,
    fp,
    fn,
    coreTp,
    answerStartS: numberOrNull(core.answer_start),
    spillS,
    partialQuality: numberOrNull(diagnostic.partial_quality),
  };
}

function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
