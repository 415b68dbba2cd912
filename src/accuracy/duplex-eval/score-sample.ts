import { InputFileError } from '../../foundation/errors.ts';
import type { JudgeClient } from '../judge/judge-client.ts';
import { type JudgeMedia, judgeContent, judgeReminder, judgeTemporal } from './eval-judges.ts';
import type { EvalSample } from './eval-sample.ts';
import type { Sentence } from './sentences.ts';

/** A sentence is about what was shown this long before it was heard. */
const lookBackS = 2;
const shortestWindowS = 0.5;

/** Pictures of a sample's video. */
export type EvalMedia = {
  /** Length of the video, s. */
  readonly durationS: number;
  /** Pictures of a part of it. */
  frames(window: readonly [startS: number, endS: number]): Promise<readonly Buffer[]>;
  /** All of it, for a verdict on the whole. */
  whole(): Promise<JudgeMedia>;
};

/** A sentence's verdict, or why it has none. */
export type SentenceScore = Sentence & {
  readonly window: readonly [number, number];
  readonly temporal_score: number | null;
  readonly is_relevant: boolean | null;
  readonly rationale: string | null;
  readonly skipped: string | null;
};

export type RtdScore = {
  readonly content_score: number;
  readonly content_rationale: string;
  readonly content_frames: number | null;
  /** Over relevant sentences; `null` = there is none. */
  readonly avg_temporal_score: number | null;
  readonly sentences: readonly SentenceScore[];
};

export type ReminderScore = {
  readonly answer: string;
  readonly window: readonly [number, number] | null;
  readonly text: string;
  readonly success_score: 0 | 1;
  readonly rationale: string;
};

export type PrScore = { readonly all_success: 0 | 1; readonly events: readonly ReminderScore[] };

/**
 * Judges a description: each sentence against what was just shown, and the whole. One that says nothing scores nothing.
 * @throws JudgeError
 */
export async function scoreDescription(
  client: JudgeClient,
  sample: EvalSample,
  said: readonly Sentence[],
  media: EvalMedia,
): Promise<RtdScore> {
  const sentences: SentenceScore[] = [];
  for (const sentence of said) sentences.push(await scoreSentence(client, sample, sentence, media));
  const relevant = sentences.flatMap(({ is_relevant, temporal_score }) =>
    is_relevant === true && temporal_score !== null ? [temporal_score] : [],
  );
  const avg_temporal_score =
    relevant.length === 0 ? null : relevant.reduce((sum, score) => sum + score, 0) / relevant.length;
  const response = said.map(({ sentence }) => sentence).join(' ');
  if (response === '')
    return {
      content_score: 0,
      content_rationale: 'nothing was said',
      content_frames: null,
      avg_temporal_score,
      sentences,
    };
  const whole = await judgeContent(client, sample, response, await media.whole());
  return {
    content_score: whole.score,
    content_rationale: whole.rationale,
    content_frames: whole.frames,
    avg_temporal_score,
    sentences,
  };
}

async function scoreSentence(
  client: JudgeClient,
  sample: EvalSample,
  sentence: Sentence,
  media: EvalMedia,
): Promise<SentenceScore> {
  const window = [sentence.start - lookBackS, sentence.end - lookBackS] as const;
  const skipped = whySkipped(window, media.durationS);
  const none = { temporal_score: null, is_relevant: null, rationale: null };
  if (skipped !== null) return { ...sentence, window, ...none, skipped };
  const frames = await media.frames(window);
  const verdict = await judgeTemporal(client, sample, sentence.sentence, frames);
  return {
    ...sentence,
    window,
    temporal_score: verdict.temporalScore,
    is_relevant: verdict.isRelevant,
    rationale: verdict.rationale,
    skipped: null,
  };
}

function whySkipped([startS, endS]: readonly [number, number], durationS: number): string | null {
  if (startS < 0) return 'the window begins before the video';
  if (endS > durationS) return 'the window ends after the video';
  return endS - startS < shortestWindowS ? `the window is shorter than ${shortestWindowS} s` : null;
}

/**
 * Judges reminders: each must be told within the time allowed; a correction at any time. Silence tells nothing.
 * @param windowS time allowed after the reminder is due
 * @throws JudgeError
 * @throws InputFileError where nothing is to be told, or nobody knows when: no score could be right then
 */
export async function scoreReminders(
  client: JudgeClient,
  sample: EvalSample,
  said: readonly Sentence[],
  windowS: number,
): Promise<PrScore> {
  if (sample.answers.every((answer) => answer === ''))
    throw new InputFileError('the manifest gives no answer that is to be told (answer1, answer2).');
  const events: ReminderScore[] = [];
  for (const [i, answer] of sample.answers.entries()) {
    if (answer === '') continue;
    const dueS = sample.taskType === 'correction' ? null : (sample.remindersS[i] ?? null);
    if (dueS === null && sample.taskType !== 'correction')
      throw new InputFileError(
        `the manifest gives answer${i + 1}, and no time for it that can be read (reminder${i + 1}); only a correction is told at any time.`,
      );
    const window = dueS === null ? null : ([dueS, dueS + windowS] as const);
    const text = said
      .filter(({ start }) => window === null || (start >= window[0] && start <= window[1]))
      .map(({ sentence }) => sentence)
      .join(' ');
    const verdict =
      text === ''
        ? { success: false, rationale: 'nothing was said in time' }
        : await judgeReminder(client, sample, { answer, text });
    events.push({
      answer,
      window,
      text,
      success_score: verdict.success ? 1 : 0,
      rationale: verdict.rationale,
    });
  }
  const all = events.length > 0 && events.every(({ success_score }) => success_score === 1);
  return { all_success: all ? 1 : 0, events };
}
