import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { JudgeClient } from '../judge/judge-client.ts';
import { type JudgeReply, type JudgeRequest, scriptedJudge } from '../judge/scripted-judge.suite.ts';
import { chooseSamples, type EvalSample, readManifest } from './eval-sample.ts';
import { type EvalMedia, scoreDescription, scoreReminders } from './score-sample.ts';
import { splitSentences } from './sentences.ts';
import { summarizeScores } from './summarize-scores.ts';

test('sentences end at their marks, with the times of their first and last letters', () => {
  const deltas = [
    { text: ' A man', timeS: 1 },
    { text: ' walks. He', timeS: 2 },
    { text: ' stops?', timeS: 3.5 },
    { text: '!', timeS: 4 },
    { text: ' 他走了。好', timeS: 5 },
    { text: ' ', timeS: 9 },
  ];
  expect(splitSentences(deltas)).toEqual([
    { sentence: 'A man walks.', start: 1, end: 2 },
    { sentence: 'He stops?!', start: 2, end: 4 },
    { sentence: '他走了。', start: 5, end: 5 },
    { sentence: '好', start: 5, end: 9 },
  ]);
  expect(splitSentences([{ text: ' \n', timeS: 1 }])).toEqual([]);
});

describe('manifests', () => {
  function manifest(name: string, text: string): string {
    const dir = mkdtempSync(join(tmpdir(), 'omnimeter-duplex-eval-'));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  }
  const rtd = {
    uid: 'a',
    subset: 'RTD_OCR',
    video_path: 'v/a.mp4',
    audio: '/q.wav',
    instruction: 'Describe.',
    duration: 12,
  };
  const pr = {
    id: 7,
    split: 'PR_event_reminder',
    video: 'b.mp4',
    answer1: 'one',
    answer2: 'two',
    reminder1: '0:05',
    reminder2: 20,
  };

  test.each([
    ['m.json', JSON.stringify([rtd, pr])],
    ['m.json', JSON.stringify({ samples: [rtd, pr] })],
    ['m.jsonl', `${JSON.stringify(rtd)}\n\n${JSON.stringify(pr)}\n`],
  ])('%s with %.20s', (name, text) => {
    const path = manifest(name, text);
    const read = readManifest(path, '/media');
    expect(read).toEqual([
      {
        id: 'a',
        split: 'RTD_OCR',
        family: 'rtd',
        taskType: 'OCR',
        videoPath: '/media/v/a.mp4',
        questionAudioPath: '/q.wav',
        questionText: 'Describe.',
        answers: ['', ''],
        remindersS: [null, null],
        durationS: 12,
      },
      expect.objectContaining({
        id: '7',
        family: 'pr',
        taskType: 'proactive_reminder',
        answers: ['one', 'two'],
        remindersS: [5, 20],
        questionAudioPath: null,
      }),
    ]);
    const choice = { split: 'all', family: 'pr', ids: [], limit: 1 } as const;
    expect(chooseSamples(read, choice).map(({ id }) => id)).toEqual(['7']);
    expect(() => chooseSamples(read, { ...choice, ids: ['a'] })).toThrow('no sample is chosen');
  });

  test('what is no manifest is told', () => {
    expect(() => readManifest('not/there.json', null)).toThrow('no such file or folder');
    const loop = join(manifest('m.json', ''), '..', 'loop');
    symlinkSync('loop', loop);
    expect(() => readManifest(loop, null)).toThrow('its links lead to each other');
    expect(() => readManifest(manifest('m.json', '[{"id":"a"}]'), null)).toThrow('needs id, split and video');
    const odd = { id: 'a', split: 'x', video: 'v' };
    expect(() => readManifest(manifest('m.json', JSON.stringify([odd])), null)).toThrow('RTD or PR');
    const path = { id: '../a', split: 'PR_correction', video: 'v' };
    expect(() => readManifest(manifest('m.json', JSON.stringify([path])), null)).toThrow(
      'is no name of a file',
    );
  });

  const made = (id: string, split = 'PR_correction') => ({ id, split, video: 'v' });
  const rows = (...list: unknown[]) => manifest('m.jsonl', list.map((row) => JSON.stringify(row)).join('\n'));

  test('two samples of one name are refused; of one id in two splits they are not', () => {
    const path = rows(made('a'), made('b'), made('a'));
    expect(() => readManifest(path, null)).toThrow(
      `${path}:3: split 'PR_correction' has a sample 'a' already, in ${path}:1`,
    );
    expect(readManifest(rows(made('a'), made('a', 'RTD_OCR')), null)).toHaveLength(2);
  });

  test.each([
    [made('a.meta'), "an id must not end in .meta, nor a split in .json, as files beside the samples' do"],
    [{ ...made('a', 'summary.json'), family: 'pr' }, 'nor a split in .json'],
    [made('a\0b'), "id 'a\\u0000b' or split 'PR_correction' is no name of a file"],
    [made('a\nb'), 'is no name of a file'],
  ])('%j would be the file of something else', (row, why) => {
    expect(() => readManifest(rows(row), null)).toThrow(why);
  });
});

const sample: EvalSample = {
  id: 'a',
  split: 'RTD_OCR',
  family: 'rtd',
  taskType: 'OCR',
  videoPath: 'a.mp4',
  questionAudioPath: null,
  questionText: 'Describe.',
  answers: ['', ''],
  remindersS: [null, null],
  durationS: 20,
};
const said = (...rows: readonly [string, number, number][]) =>
  rows.map(([sentence, start, end]) => ({ sentence, start, end }));

async function clientFor(answer: (request: JudgeRequest, index: number) => JudgeReply) {
  const judge = await scriptedJudge(answer);
  const target = { model: 'j', apiKey: 'x', timeoutS: 10, maxTokens: 1200, temperature: 0.1 };
  const client = new JudgeClient({ ...target, baseUrl: judge.url }, async () => {});
  onTestFinished(async () => {
    await client.close();
    await judge.close();
  });
  return { client, judge };
}

const parts = ({ body }: JudgeRequest): { type: string }[] => {
  const { content } = (body.messages as { content: unknown }[])[1] ?? {};
  return Array.isArray(content) ? (content as { type: string }[]) : [];
};

test('a description: sentences against what was just shown, and the whole, by hand', async () => {
  const windows: unknown[] = [];
  const media: EvalMedia = {
    durationS: 20,
    frames: async (window) => {
      windows.push(window);
      return [Buffer.from('jpeg')];
    },
    whole: async () => ({ frames: Array.from({ length: 7 }, (_, i) => Buffer.from([i])) }),
  };
  const { client, judge } = await clientFor((request) => {
    const pictures = parts(request).filter(({ type }) => type === 'image_url').length;
    const text = JSON.stringify(request.body);
    if (text.includes('content_score')) {
      if (pictures > 3)
        return { status: 400, body: 'The prompt is longer than the maximum model length of 9' };
      return '{"content_score": 2.345}';
    }
    if (text.includes('two.')) return '{"temporal_score": 9, "is_relevant": 1}';
    return text.includes('Hi!')
      ? '{"temporal_score": 0, "is_relevant": 0}'
      : '{"temporal_score": "2", "is_relevant": 1}';
  });
  const rows = said(['early', 1, 3], ['Hi!', 4, 5], ['short', 6, 6.4], ['one.', 7, 9], ['late', 20, 23]);
  const score = await scoreDescription(client, sample, rows, media);
  expect(windows).toEqual([
    [2, 3],
    [5, 7],
  ]);
  expect(score.sentences.map(({ temporal_score, skipped }) => temporal_score ?? skipped)).toEqual([
    'the window begins before the video',
    0,
    'the window is shorter than 0.5 s',
    2,
    'the window ends after the video',
  ]);
  // Only what is relevant counts; 7 pictures are halved to 4 and to 2.
  expect(score).toMatchObject({ avg_temporal_score: 2, content_score: 2.35, content_frames: 2 });
  expect(judge.requests.map((request) => parts(request).length)).toEqual([2, 2, 8, 5, 3]);
  await expect(scoreDescription(client, sample, said(['two.', 7, 9]), media)).rejects.toThrow('no verdict');
  const silent = await scoreDescription(client, sample, [], media);
  expect(silent).toMatchObject({ content_score: 0, avg_temporal_score: null });
});

test('reminders: each in its time, a correction at any, silence tells nothing', async () => {
  const { client, judge } = await clientFor(({ user }) =>
    user.includes('Boil') ? '{"success_score": 1}' : '{"success_score": 0}',
  );
  const reminders: EvalSample = {
    ...sample,
    family: 'pr',
    taskType: 'proactive_reminder',
    answers: ['Boil it', 'Stop'],
    remindersS: [5, 30],
  };
  const rows = said(
    ['too early', 4.9, 5],
    ['Boil it now.', 5, 6],
    ['And more.', 15, 16],
    ['too late', 15.1, 16],
  );
  const score = await scoreReminders(client, reminders, rows, 10);
  expect(score.events.map(({ text, success_score }) => [text, success_score])).toEqual([
    ['Boil it now. And more.', 1],
    ['', 0],
  ]);
  expect(score.all_success).toBe(0);
  expect(judge.requests).toHaveLength(1);
  const correction = { ...reminders, taskType: 'correction', answers: ['Boil it', ''] };
  expect(await scoreReminders(client, correction, rows, 10)).toMatchObject({
    all_success: 1,
    events: [{ window: null, text: 'too early Boil it now. And more. too late' }],
  });
});

test('a reminder without a time, or without words, is not told at any time, and not missed either', async () => {
  const { client, judge } = await clientFor(() => '{"success_score": 1}');
  const reminders: EvalSample = { ...sample, family: 'pr', taskType: 'proactive_reminder' };
  const rows = said(['Boil it.', 5, 6]);
  const untimed = { ...reminders, answers: ['Boil it', ''], remindersS: [null, 20] };
  await expect(scoreReminders(client, untimed, rows, 10)).rejects.toThrow(
    'no time for it that can be read (reminder1)',
  );
  await expect(scoreReminders(client, reminders, rows, 10)).rejects.toThrow('no answer that is to be told');
  expect(judge.requests).toEqual([]);
});

test('means by task, of what was scored', () => {
  const rtd = (content_score: number, avg_temporal_score: number | null) => ({
    content_score,
    avg_temporal_score,
    content_rationale: '',
    content_frames: null,
    sentences: [],
  });
  const base = { id: 'x', split: 's', family: 'rtd', task_type: 'OCR', pr: null, rtd: null } as const;
  const pr = (all_success: 0 | 1) => ({ all_success, events: [] });
  expect(
    summarizeScores(
      [
        { ...base, rtd: rtd(1, null) },
        { ...base, rtd: rtd(2, 3) },
        { ...base, task_type: 'counting', rtd: rtd(3, 1) },
        { ...base, family: 'pr', task_type: 'correction', pr: pr(1) },
        { ...base, family: 'pr', task_type: 'correction', pr: pr(0) },
      ],
      [
        { split: 's', id: 'y', error: 'no' },
        { split: 's', id: 'z', error: null },
      ],
    ),
  ).toMatchObject({
    samples: 5,
    failed: 1,
    not_judged: 1,
    rtd: {
      samples: 3,
      mean_content_score: 2,
      mean_avg_temporal_score: 2,
      by_task: { OCR: { mean_content_score: 1.5, mean_avg_temporal_score: 3 }, counting: { samples: 1 } },
    },
    pr: { samples: 2, mean_all_success: 0.5, by_task: { correction: { samples: 2 } } },
  });
  expect(summarizeScores([], []).rtd.mean_content_score).toBeNull();
});
