import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type JudgeReply, type JudgeRequest, scriptedJudge } from '../judge/scripted-judge.suite.ts';
import { type EvaluationOptions, evaluateOmniInteract } from './evaluate-omniinteract.ts';
import type { EvaluationCase } from './evaluation-case.ts';

export function scratchFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'omnimeter-accuracy-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

type Chunk = readonly [
  startS: number,
  endS: number,
  text: string,
  words?: readonly [string, number, number][],
];

/** Writes a case's two files as the dataset and the benchmark write them. */
export function writeCase(
  dir: string,
  sampleId: string,
  sceneName: string,
  annotation: unknown,
  chunks: readonly Chunk[],
): EvaluationCase {
  const [subset = '', name = ''] = sampleId.split(/__(.*)/s);
  const caseDir = join(dir, subset, name);
  mkdirSync(caseDir, { recursive: true });
  const annotationPath = join(caseDir, 'annotation.json');
  const transcriptPath = join(caseDir, 'wav_transcript.json');
  writeFileSync(annotationPath, JSON.stringify(annotation));
  const rows = chunks.map(([start, end, text, words]) => ({
    response_id: `r${start}`,
    text,
    timestamp: [start, end],
    ...(words && { aligned_words: words.map(([word, from, to]) => ({ text: word, start: from, end: to })) }),
  }));
  const text = rows.map((row) => row.text).join(' ');
  writeFileSync(transcriptPath, JSON.stringify({ text, chunks: rows }));
  return { sampleId, subset, sceneName, annotationPath, transcriptPath };
}

/** Three turns: one answered late, one badly and beyond its end, one interrupted. */
export const turns = [
  {
    question_time: '01:20',
    question_text: 'And now?',
    answer_time: 90,
    answer_text: 'A cat.',
    question_type: 'Realtime',
    is_interrupted: 'yes',
  },
  {
    question_time: '00:10',
    question_text: 'Which colour?',
    answer_time: '00:00:20',
    answer_text: 'Red.',
    question_type: 'realtime',
  },
  {
    question_time: 40,
    question_text: 'Tell me when it boils.',
    answer_time: '50.0',
    answer_text: 'It boils.',
    question_type: 'proactive',
    is_interrupted: false,
  },
  { question_time: 'soon', answer_time: 5, question_text: 'no slot' },
];

export const turnChunks: readonly Chunk[] = [
  [12, 14, 'Hm, let me look.'],
  [25, 30, 'It is red.'],
  [45, 48, 'It boils already.'],
  [55, 82, 'Something is in a pot.'],
  [85, 160, 'A dog, and so on.'],
  [6, 5, 'Hello there.'],
];

/** What the judge thinks of each text: by the text in question, which is the last one quoted. */
export const opinions: Readonly<Record<string, string>> = {
  'Hm, let me look.': '{"flag":"Neutral","score":0.5,"rationale":"waits"}',
  'It is red.': 'Here you are: {"score":0.8,"trigger_phrase":"red","spoiler":false,"rationale":"right"}',
  'It boils already.': '{"flag":"FP-Hallucination","score":0.9,"rationale":"too early"}',
  'Something is in a pot.': '{"score":"0.4","trigger_phrase":"","rationale":"vague"}',
  'A dog, and so on.': '{"flag":"neutral"}',
};

/** Which of the three judges is asked, as a reader of the prompt tells. */
export function judgeKind({ system }: JudgeRequest): 'early' | 'core' | 'partial' {
  if (system.includes('"flag"')) return 'early';
  return system.includes('"trigger_phrase"') ? 'core' : 'partial';
}

export function judgedText({ user }: JudgeRequest): string {
  return user.slice(user.lastIndexOf('<<<') + 3, user.lastIndexOf('>>>'));
}

type Answer = (request: JudgeRequest) => JudgeReply;

/** Has a scripted judge evaluate cases. */
export async function evaluated(
  cases: readonly EvaluationCase[],
  answer: Answer,
  more: Partial<EvaluationOptions> & { outputDir: string },
) {
  const judge = await scriptedJudge(answer);
  onTestFinished(judge.close);
  const accuracy = await evaluateOmniInteract({
    cases,
    skipped: 0,
    workers: 2,
    skipExisting: false,
    judge: { baseUrl: judge.url, model: 'judge-1', apiKey: 'EMPTY', timeoutS: 10, maxTokens: 512 },
    prompts: null,
    sleep: async () => {},
    ...more,
  });
  return { accuracy, judge };
}

const partial = '{"score":0.6,"hallucination":true,"rationale":"wrong animal"}';
/** The opinions above, and one of what was broken off. */
export const byText: Answer = (request) =>
  judgeKind(request) === 'partial' ? partial : (opinions[judgedText(request)] ?? 'no opinion');

/** A question within a question. */
export const nestedRows = [
  {
    question_time: 0,
    answer_time: 30,
    question_text: 'When?',
    answer_text: 'Boils.',
    question_type: 'proactive',
  },
  {
    question_time: 10,
    answer_time: 15,
    question_text: 'Colour?',
    answer_text: 'Red.',
    question_type: 'realtime',
  },
];
/** Steps of a procedure. */
export const steps = {
  question_time: 10,
  inferred_knowledge: 'A pan.',
  conversations: [
    { from: 'user', timestamp: '00:10', value: 'How do I cook this?' },
    { from: 'assistant', timestamp: 40, value: 'Turn it.', label: 'Step' },
    { from: 'assistant', timestamp: 20, value: 'Heat the pan.' },
  ],
};
