import type { JudgeClient } from '../judge/judge-client.ts';
import { decay } from './decay.ts';
import { fillPrompt, type JudgePrompts, type PromptValues } from './judge-prompts.ts';
import type { MatchedChunk, MatchedSlot } from './match-chunks.ts';
import type { Slot } from './slot.ts';
import { fullContext, phraseStartS, spokenText } from './spoken-text.ts';
import {
  type CoreVerdict,
  type EarlyVerdict,
  type PartialVerdict,
  readCoreVerdict,
  readEarlyVerdict,
  readPartialVerdict,
} from './verdicts.ts';

/** Share of the marks that good behaviour before the answer earns. */
const earlyWeight = 0.2;
/** Below it an answer, or the part of one, is a fault. */
const passingScore = 0.5;

/** What was said before the answer was due; `verdict` null = nothing. */
export type EarlyStage = {
  readonly text: string;
  readonly timeliness: number;
  readonly weight: number;
  readonly tp: number;
  readonly verdict: EarlyVerdict | null;
};

/** The answer; `verdict` null = there is none, or none is expected. */
export type CoreStage = {
  readonly skippedInterrupted: boolean;
  readonly text: string;
  readonly answerStartS: number | null;
  readonly triggerStartS: number | null;
  readonly timeliness: number;
  readonly weight: number;
  readonly tp: number;
  readonly isLowQuality: boolean;
  readonly verdict: CoreVerdict | null;
};

/** How a slot came out. */
export type SlotScore = {
  readonly matched: MatchedSlot;
  readonly early: EarlyStage;
  readonly core: CoreStage;
  readonly spillS: number;
  /** The part that was said of an interrupted answer; `null` = the slot is not interrupted, or nothing was said. */
  readonly partial: PartialVerdict | null;
  readonly partialIsLow: boolean;
  /** 0 to 1. */
  readonly tp: number;
  readonly fp: number;
  readonly fn: 0 | 1;
};

/** Who judges, and in which words. */
export type SlotJudge = { readonly client: JudgeClient; readonly prompts: JudgePrompts };

/**
 * Scores one slot (§ "interaction-aware quality-timeliness F1" of the OmniInteract protocol).
 * @param later slots of the same scene that follow, whose answers do not belong here
 * @throws JudgeError
 */
export async function scoreSlot(
  matched: MatchedSlot,
  later: readonly Slot[],
  judge: SlotJudge,
): Promise<SlotScore> {
  const { slot } = matched;
  const weight = slot.sceneType === '1QnA' && (slot.stepIndex ?? 1) > 1 ? 0 : earlyWeight;
  const early = await earlyStage(matched, weight, judge);
  const core = await coreStage(matched, 1 - weight, later, judge);
  const spillS = spillOf(matched);
  const partial = slot.isInterrupted ? await partialVerdict(matched, judge) : null;
  const isHallucinated = early.verdict?.category === 'hallucination';
  return {
    matched,
    early,
    core,
    spillS,
    partial,
    partialIsLow: partial !== null && partial.score < passingScore,
    tp: Math.min(1, Math.max(0, early.tp + core.tp)),
    fp: Number(isHallucinated) + Number(core.isLowQuality) + Number(spillS > 0),
    fn: slot.isInterrupted || core.tp > 0 ? 0 : 1,
  };
}

async function earlyStage(matched: MatchedSlot, weight: number, judge: SlotJudge): Promise<EarlyStage> {
  const [first] = matched.early;
  if (first === undefined) return { text: '', timeliness: 0, weight, tp: 0, verdict: null };
  const text = spokenText(matched.early);
  const verdict = await judge.client.ask(
    fillPrompt(judge.prompts.early, { ...valuesOf(matched, matched.early), early_text: text }),
    readEarlyVerdict,
  );
  const timeliness = decay(first.startS, matched.slot.startS, matched.slot.answerS);
  // A hallucination has no score, so that it earns nothing here either.
  return { text, timeliness, weight, tp: timeliness * verdict.score * weight, verdict };
}

async function coreStage(
  matched: MatchedSlot,
  weight: number,
  later: readonly Slot[],
  judge: SlotJudge,
): Promise<CoreStage> {
  const { slot } = matched;
  const text = spokenText(matched.core);
  const none = {
    skippedInterrupted: slot.isInterrupted,
    text,
    answerStartS: null,
    triggerStartS: null,
    timeliness: 0,
    weight,
    tp: 0,
    isLowQuality: false,
    verdict: null,
  };
  const [first] = matched.core;
  if (slot.isInterrupted || first === undefined) return none;
  const values = { ...valuesOf(matched, matched.core), core_text: text, future_answers: answersOf(later) };
  const verdict = await judge.client.ask(fillPrompt(judge.prompts.core, values), readCoreVerdict);
  const triggerStartS = verdict.score > 0 ? phraseStartS(matched.core, verdict.triggerPhrase) : null;
  const answerStartS = Math.max(triggerStartS ?? effectiveStartS(first), slot.answerS);
  const timeliness = decay(answerStartS, slot.answerS, slot.endS);
  const isLowQuality = verdict.score < passingScore;
  const tp = isLowQuality ? 0 : timeliness * verdict.score * weight;
  return { ...none, answerStartS, triggerStartS, timeliness, tp, isLowQuality, verdict };
}

function effectiveStartS({ startS, effectiveStartHintS }: MatchedChunk): number {
  return effectiveStartHintS === null ? startS : Math.min(startS, effectiveStartHintS);
}

/** How long the assistant talked on where it had to stop, s. */
function spillOf({ slot, all }: MatchedSlot): number {
  if (slot.boundaryType !== 'Hard' && !slot.isInterrupted) return 0;
  return all.reduce((spillS, { endS }) => Math.max(spillS, endS - slot.endS), 0);
}

async function partialVerdict(matched: MatchedSlot, judge: SlotJudge): Promise<PartialVerdict | null> {
  const text = spokenText(matched.all);
  if (text === '') return null;
  const values = { ...valuesOf(matched, matched.all), partial_text: text };
  return judge.client.ask(fillPrompt(judge.prompts.interrupted, values), readPartialVerdict);
}

function valuesOf({ slot, all }: MatchedSlot, part: readonly MatchedChunk[]): PromptValues {
  return {
    scene_type: slot.sceneType,
    slot_id: String(slot.slotId),
    turn_index: String(slot.turnIndex),
    step_index: slot.stepIndex === null ? 'none' : String(slot.stepIndex),
    boundary_type: slot.boundaryType,
    is_interrupted: String(slot.isInterrupted),
    question: slot.questionText,
    reference_answer: slot.referenceAnswer,
    full_context: fullContext(part, all),
  };
}

function answersOf(later: readonly Slot[]): string {
  const lines = later.map(({ slotId, referenceAnswer }) => `- slot ${slotId}: ${referenceAnswer}`);
  return lines.length > 0 ? lines.join('\n') : '(none)';
}
