import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { InputFileError, messageOf } from '../../foundation/errors.ts';
import { parseTolerantJson } from '../../foundation/tolerant-json.ts';
import { trimmedBaseUrl } from '../judge/judge-client.ts';
import { buildSlots, sceneTypeOf, slotRowCount } from './build-slots.ts';
import type { CaseEvaluation, EvaluationCase, InputsFingerprint } from './evaluation-case.ts';
import { matchChunks } from './match-chunks.ts';
import { type SlotJudge, scoreSlot } from './score-slot.ts';
import type { SceneType, Slot } from './slot.ts';
import { outcomeOf, slotRow, unmatchedRow } from './slot-row.ts';
import { summarizeSlots } from './summarize-slots.ts';
import { readTranscript } from './transcript.ts';

/** A case's two files as they were read, once. */
export type CaseInputs = {
  readonly annotation: Buffer;
  readonly transcript: Buffer;
  readonly fingerprint: InputsFingerprint;
};

/**
 * Reads what a case is judged from.
 * @throws InputFileError
 */
export function readCaseInputs(which: EvaluationCase, judge: SlotJudge): CaseInputs {
  const annotation = readBytes(which.annotationPath, 'annotation');
  const transcript = readBytes(which.transcriptPath, 'transcript');
  const { target } = judge.client;
  return {
    annotation,
    transcript,
    fingerprint: {
      annotation_sha256: sha256(annotation),
      transcript_sha256: sha256(transcript),
      judge_model: target.model,
      judge_base_url: trimmedBaseUrl(target.baseUrl),
      judge_max_tokens: target.maxTokens,
      protocol_source: judge.prompts.protocolSource,
      prompts_sha256: judge.prompts.sha256,
    },
  };
}

/**
 * Judges one conversation, slot by slot.
 * @throws InputFileError for files that are no annotation or transcript, or in which there is nothing to judge
 * @throws JudgeError
 */
export async function evaluateCase(
  which: EvaluationCase,
  inputs: CaseInputs,
  judge: SlotJudge,
): Promise<CaseEvaluation> {
  const scene = sceneTypeOf(which.sceneName);
  const { slots, rowCount } = within(which.annotationPath, () => slotsOf(jsonOf(inputs.annotation), scene));
  const { chunks, timingPrecision, leftOutChunks, leftOutWords } = within(which.transcriptPath, () =>
    readTranscript(jsonOf(inputs.transcript)),
  );
  const { matched, unmatched } = matchChunks(slots, chunks);
  const rows: unknown[] = [];
  for (const [i, slot] of matched.entries())
    rows.push(slotRow(await scoreSlot(slot, slots.slice(i + 1), judge), which.sampleId));
  const outcomes = rows.map(outcomeOf).filter((outcome) => outcome !== null);
  return {
    status: 'ok',
    sample_id: which.sampleId,
    subset: which.subset,
    scene_type: scene,
    gt_json: resolve(which.annotationPath),
    model_json: resolve(which.transcriptPath),
    timing_precision: timingPrecision,
    protocol_source: judge.prompts.protocolSource,
    inputs_fingerprint: inputs.fingerprint,
    summary: summarizeSlots(outcomes, unmatched.length),
    slots: rows,
    unmatched_chunks: unmatched.map(unmatchedRow),
    left_out: {
      annotation_rows: rowCount - slots.length,
      transcript_chunks: leftOutChunks,
      transcript_words: leftOutWords,
    },
  };
}

/** Without a slot all that was said would be false, and nothing could be right. */
function slotsOf(annotation: unknown, scene: SceneType): { slots: readonly Slot[]; rowCount: number } {
  const slots = buildSlots(annotation, scene);
  const rowCount = slotRowCount(annotation, scene);
  if (slots.length > 0) return { slots, rowCount };
  throw new InputFileError(
    rowCount === 0
      ? `the annotation asks nothing; expected ${scene === '1QnA' ? 'answers with their times' : 'questions with question_time and answer_time'}.`
      : `none of the ${rowCount} rows of the annotation has readable times, so that there is nothing to judge.`,
  );
}

function readBytes(path: string, what: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new InputFileError(`${path}: the ${what} cannot be read: ${messageOf(cause)}`, { cause });
  }
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return parseTolerantJson(bytes.toString('utf8').replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw new InputFileError(`it is no JSON: ${messageOf(cause)}`, { cause });
  }
}

function within<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof InputFileError) throw new InputFileError(`${path}: ${cause.message}`, { cause });
    throw cause;
  }
}
