import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { scriptedJudge } from '../accuracy/judge/scripted-judge.suite.ts';
import { terminal } from '../bench/serve/terminal.suite.ts';
import {
  omniInteractAggregateCommand,
  omniInteractEvaluateCommand,
} from './accuracy-omniinteract-command.ts';
import type { Command } from './command.ts';

async function run(command: Command, argv: readonly string[]) {
  const { io, lines, errors } = terminal();
  const exitCode = await command.run(argv, { env: {}, io });
  return { exitCode, lines, errors };
}

/** A folder of artifacts with one conversation of one turn, as another program may have written it. */
function artifacts(): string {
  const dir = mkdtempSync(join(tmpdir(), 'omnimeter-accuracy-cli-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const caseDir = join(dir, '1q1a', 'videos__0001--9f707b50');
  mkdirSync(caseDir, { recursive: true });
  const rows = [
    { question_time: 0, answer_time: 0, question_text: 'Q', answer_text: 'A', question_type: 'realtime' },
  ];
  writeFileSync(join(dir, 'a.json'), JSON.stringify(rows));
  const chunks = [{ text: 'Red.', timestamp: [15, 16] }];
  writeFileSync(join(caseDir, 'wav_transcript.json'), JSON.stringify({ chunks }));
  const row = { sample_id: '1q1a__videos__0001--9f707b50', gt_json: 'a.json', scene_type: 'multi_turn' };
  const model_json = '1q1a/videos__0001--9f707b50/wav_transcript.json';
  writeFileSync(join(dir, 'official_eval_manifest.jsonl'), JSON.stringify({ ...row, model_json }));
  return dir;
}

test('artifacts are judged, and several runs are pooled against a gate', async () => {
  const judge = await scriptedJudge(() => '{"score":1}');
  onTestFinished(judge.close);
  const dir = artifacts();
  const flags = ['--omniinteract-judge-base-url', judge.url, '--omniinteract-judge-model', 'j'];
  const { exitCode, lines } = await run(omniInteractEvaluateCommand, [dir, ...flags]);
  expect(exitCode).toBe(0);
  // [0, 0, 60): answered at 15, so 0.75 · 1 · 0.8 = 0.6 and 2·0.6 / (2·0.6).
  expect(lines).toContain('Global TP / FP / FN:      0.600000 / 0 / 0');
  expect(lines).toContain('All Global:               1.000000');
  const json = join(dir, 'pooled.json');
  const gate = (least: string) => ['--omniinteract-aggregate-min-ia-qtf1', least, '--json', json];
  const other = join(dir, 'other');
  cpSync(join(dir, 'evaluation'), join(other, 'evaluation'), { recursive: true });
  const pooled = await run(omniInteractAggregateCommand, [dir, other, ...gate('0.9')]);
  expect(pooled.exitCode).toBe(0);
  expect(pooled.errors).toEqual([expect.stringContaining('warning: ')]);
  expect(JSON.parse(readFileSync(json, 'utf8'))).toMatchObject({
    pooled: { num_slots: 2, Global_TP: expect.closeTo(1.2, 12), IA_QTF1: 1 },
    min_ia_qtf1: 0.9,
    broken: [],
  });
});

test('a judge that fails costs exit code 1, and breaks a gate', async () => {
  const judge = await scriptedJudge(() => ({ status: 500, body: 'no' }));
  onTestFinished(judge.close);
  const dir = artifacts();
  const flags = ['--judge-base-url', judge.url, '--judge-model', 'j'];
  const plain = await run(omniInteractEvaluateCommand, [dir, ...flags]);
  expect(plain.exitCode).toBe(1);
  expect(plain.errors).toContain('error: 1 of 1 cases could not be judged: judge returned HTTP 500: no');
  const gated = await run(omniInteractEvaluateCommand, [dir, ...flags, '--min-ia-qtf1', '0.2']);
  expect(gated.exitCode).toBe(3);
  expect(gated.errors).toContainEqual(expect.stringMatching(/^FAILED: .*status is failed and not ok/));
});

test('no judge, no folder, no run', async () => {
  const dir = artifacts();
  await expect(run(omniInteractEvaluateCommand, [dir])).rejects.toThrow(
    'OmniInteract evaluation requires --omniinteract-judge-model',
  );
  await expect(run(omniInteractEvaluateCommand, [])).rejects.toThrow('takes one folder of artifacts, got 0');
  await expect(run(omniInteractAggregateCommand, [])).rejects.toThrow('needs at least one run');
});

test('an empty manifest costs exit code 1', async () => {
  const dir = artifacts();
  writeFileSync(join(dir, 'official_eval_manifest.jsonl'), '\n');
  const { exitCode, errors } = await run(omniInteractEvaluateCommand, [dir, '--judge-model', 'j']);
  expect(exitCode).toBe(1);
  expect(errors).toContain('error: there is no case to judge');
});

test('where nothing can be written is found out before the judge is asked', async () => {
  const judge = await scriptedJudge(() => '{"score":1}');
  onTestFinished(judge.close);
  const dir = artifacts();
  const flags = ['--judge-base-url', judge.url, '--judge-model', 'j'];
  for (const at of ['/proc/x', join(dir, 'a.json'), join(dir, 'a.json', 'below')])
    await expect(
      run(omniInteractEvaluateCommand, [dir, ...flags, '--eval-output-dir', at]),
    ).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(`nothing can be written to ${at}`),
    });
  expect(judge.requests).toEqual([]);
  await run(omniInteractEvaluateCommand, [dir, ...flags]);
  for (const json of ['/proc/x/y', dir])
    await expect(run(omniInteractAggregateCommand, [dir, '--json', json])).rejects.toMatchObject({
      code: 'OUTPUT_FILE',
      message: expect.stringContaining(`cannot write ${json}`),
    });
});
