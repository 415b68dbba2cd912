import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { EvalSample } from '../../accuracy/duplex-eval/eval-sample.ts';
import { scriptedJudge } from '../../accuracy/judge/scripted-judge.suite.ts';
import { terminal } from '../serve/terminal.suite.ts';
import { evaluate } from './evaluate.ts';
import { generate } from './generate.ts';
import { summarize } from './summarize.ts';

function scratch(): string {
  const dir = mkdtempSync(join(tmpdir(), 'omnimeter-duplex-eval-scores-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A correction: it takes no picture to judge one. */
const sample = (id: string): EvalSample => ({
  id,
  split: 'PR_correction',
  family: 'pr',
  taskType: 'correction',
  videoPath: 'v.mp4',
  questionAudioPath: null,
  questionText: 'Tell me.',
  answers: [`answer ${id}`, ''],
  remindersS: [null, null],
  durationS: 5,
});

async function made(ids: readonly string[], broken: readonly string[] = []) {
  const dir = scratch();
  const fails = new Set(broken);
  mkdirSync(join(dir, 'responses', 'PR_correction'), { recursive: true });
  for (const id of ids)
    writeFileSync(
      join(dir, 'responses', 'PR_correction', `${id}.json`),
      JSON.stringify([{ sentence: `I say ${id}.`, start: 1, end: 2 }]),
    );
  const judge = await scriptedJudge(({ user }) =>
    [...fails].some((id) => user.includes(`I say ${id}.`))
      ? { status: 500, body: 'no such model' }
      : '{"success_score": 1}',
  );
  onTestFinished(judge.close);
  const scoreRoot = join(dir, 'scores');
  const options = {
    samples: ids.map(sample),
    responseRoot: join(dir, 'responses'),
    scoreRoot,
    judge: { baseUrl: judge.url, model: 'j', apiKey: 'x' },
    videoMode: 'frame-sample',
    judgeFps: 2,
    windowS: 10,
    allowInvalidClock: false,
    workers: 1,
    overwrite: false,
  } as const;
  return { dir, judge, fails, scoreRoot, options };
}

const json = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

test('means over a part of the samples say which part, until the rest is judged', async () => {
  const { scoreRoot, options, fails } = await made(['a', 'b', 'c'], ['b']);
  expect(await evaluate(options, terminal().io)).toBe(1);
  const partly = terminal();
  expect(summarize(scoreRoot, partly.io)).toBe(1);
  expect(partly.lines.slice(-2)).toEqual([
    '2 samples in all',
    'without a score: 1 that could not be judged, 0 not judged yet',
  ]);
  expect(partly.errors.at(-1)).toBe(
    'error: the means are over 2 of 3 samples; 1 could not be judged and 0 are not judged yet: judge returned HTTP 500: no such model. Run evaluate again for them.',
  );
  expect(json(join(scoreRoot, 'summary.json'))).toMatchObject({
    samples: 2,
    failed: 1,
    not_judged: 0,
    unscored: [{ split: 'PR_correction', id: 'b', error: 'judge returned HTTP 500: no such model' }],
    pr: { mean_all_success: 1 },
  });
  fails.clear();
  const again = terminal();
  expect(await evaluate(options, again.io)).toBe(0);
  expect(again.lines[0]).toBe('Scores: 1 written, 2 kept, 0 failed');
  const whole = terminal();
  expect(summarize(scoreRoot, whole.io)).toBe(0);
  expect(whole.lines.at(-1)).toBe('3 samples in all');
  expect(existsSync(join(scoreRoot, 'unscored.json'))).toBe(false);
});

test('a score of an earlier time does not count where its sample could not be judged anew', async () => {
  const { scoreRoot, options, fails } = await made(['a', 'b']);
  expect(await evaluate(options, terminal().io)).toBe(0);
  fails.add('a');
  expect(await evaluate({ ...options, overwrite: true }, terminal().io)).toBe(1);
  expect(summarize(scoreRoot, terminal().io)).toBe(1);
  expect(json(join(scoreRoot, 'summary.json'))).toMatchObject({ samples: 1, failed: 1 });
  fails.clear();
  // Without overwrite too: its score is one of before.
  const again = terminal();
  expect(await evaluate(options, again.io)).toBe(0);
  expect(again.lines[0]).toBe('Scores: 1 written, 1 kept, 0 failed');
});

test('an evaluation that was cut off left samples behind that are not judged', async () => {
  const { scoreRoot, options } = await made(['a']);
  await evaluate(options, terminal().io);
  // As the list stands while the judge is at b.
  const open = [{ split: 'PR_correction', id: 'b', error: null }];
  writeFileSync(join(scoreRoot, 'unscored.json'), JSON.stringify(open));
  const seen = terminal();
  expect(summarize(scoreRoot, seen.io)).toBe(1);
  expect(seen.errors.at(-1)).toContain('0 could not be judged and 1 are not judged yet. Run evaluate again');
  writeFileSync(join(scoreRoot, 'unscored.json'), '{}');
  expect(() => summarize(scoreRoot, terminal().io)).toThrow('expected a list of {split, id, error}');
});

test.each([
  ['{"id":"z","split":"s","task_type":"t","rtd":{"content_score":"x","avg_temporal_score":null},"pr":null}'],
  ['{"id":"z","split":"s","task_type":"t","rtd":{"content_score":5e400,"avg_temporal_score":1},"pr":null}'],
  ['{"id":"z","split":"s","task_type":"t","rtd":{"content_score":4,"avg_temporal_score":1},"pr":null}'],
  ['{"id":"z","split":"s","task_type":"t","rtd":null,"pr":{"all_success":null}}'],
  ['[]'],
])('%s is no score, and none is made of it', async (text) => {
  const { scoreRoot, options } = await made(['a']);
  await evaluate(options, terminal().io);
  const path = join(scoreRoot, 'PR_correction', 'z.json');
  writeFileSync(path, text);
  expect(() => summarize(scoreRoot, terminal().io)).toThrow(`${path}: it is no score that evaluate writes`);
});

test('where nothing can be written is found out before anything is asked or played', async () => {
  const { dir, options, judge } = await made(['a']);
  const { io } = terminal();
  writeFileSync(join(dir, 'file'), '');
  for (const scoreRoot of ['/proc/x', join(dir, 'file')])
    await expect(evaluate({ ...options, scoreRoot }, io)).rejects.toThrow(
      `--score-root: nothing can be written to ${scoreRoot}`,
    );
  await expect(evaluate({ ...options, scoreRoot: join(dir, 'x', '..', 'responses') }, io)).rejects.toThrow(
    'a score would take the place of its response',
  );
  expect(judge.requests).toEqual([]);
  expect(() => summarize(join(dir, 'file'), io)).toThrow('there is no such folder');
});

test('a reference voice without sound is refused before anything is played', async () => {
  const dir = scratch();
  writeFileSync(join(dir, 'voice.wav'), '');
  const common = { url: 'ws://127.0.0.1:9', model: 'm', responseRoot: join(dir, 'responses'), fps: 1 };
  const more = { isRealtime: true, concurrency: 1, overwrite: false, headers: [], env: {} };
  await expect(
    generate({ samples: [], refAudio: join(dir, 'voice.wav'), ...common, ...more }, terminal().io),
  ).rejects.toThrow(/--ref-audio: .*voice\.wav is no voice to answer with/);
  expect(existsSync(join(dir, 'responses'))).toBe(false);
});
