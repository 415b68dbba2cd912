import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findFfmpeg } from '../../src/media/ffmpeg.ts';
import { encodeWav } from '../../src/media/wav-encode.ts';
import { type MadeCase, makeDataset } from '../../src/workloads/omniinteract/made-dataset.suite.ts';
import { readJson, runCli, withFolder } from './run-cli.ts';

const hasFfmpeg = (await findFfmpeg()) !== null;
const caseFile = new URL('../../cases/minicpmo-4-5-omniinteract.yaml', import.meta.url).pathname;

async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return String(typeof address === 'object' && address !== null ? address.port : 0);
}

/** The model says one sentence, heard from about 2.1 s to 2.6 s, in every conversation. */
const script = {
  sessions: [
    { responses: [{ at_ms: 1500, text: 'The picture counts.', audio_s: 0.5, ttft_ms: 50, rtf: 0.5 }] },
  ],
};

const question = (question_time: number, answer_time: number, question_type: string) => ({
  question_time,
  answer_time,
  question_type,
  question_text: 'What happens?',
  answer_text: 'The picture counts.',
});

/** Six slots, four of which the sentence answers: the outer of two questions and the first of two steps stay open. */
const cases: readonly MadeCase[] = [
  { subset: '1q1a', name: '0001', durationS: 4, annotation: [question(0.5, 1, 'realtime')] },
  {
    subset: '1q1a',
    name: '0002',
    durationS: 4,
    sceneType: 'nested',
    annotation: [question(0.2, 3.5, 'proactive'), question(0.5, 1, 'realtime')],
  },
  { subset: '1q1a_math', name: '0001', durationS: 4, annotation: [question(0.5, 1, 'proactive')] },
  {
    subset: '1qna',
    name: 'egoper/tea',
    durationS: 4,
    annotation: {
      conversations: [
        { from: 'user', timestamp: 0.2, value: 'How is tea made?' },
        { from: 'assistant', timestamp: 0.8, value: 'Boil water.' },
        { from: 'assistant', timestamp: 1.8, value: 'Add tea.' },
      ],
    },
  },
];

describe('bench cases', () => {
  it.skipIf(!hasFfmpeg)(
    'the local performance case: three subsets on embedded servers, judged and pooled',
    {
      timeout: 240_000,
    },
    async () => {
      await withFolder(async (dir) => {
        const dataset = join(dir, 'OmniInteract');
        await makeDataset(dataset, cases);
        const refAudio = join(dir, 'reference.wav');
        writeFileSync(refAudio, encodeWav(Buffer.alloc(16_000), { sampleRateHz: 16_000, channels: 1 }));
        const scriptFile = join(dir, 'script.json');
        writeFileSync(scriptFile, JSON.stringify(script));
        const results = join(dir, 'results');
        const env = {
          ENGINES: 'embedded',
          OMNI_PORT: await freePort(),
          OMNI_FLAGS: `--duplex-script ${scriptFile}`,
          JUDGE_PORT: await freePort(),
          DATASET: dataset,
          REF_AUDIO: refAudio,
          BENCHMARK_DIR: results,
        };
        const args = ['bench', 'cases', caseFile, '--test-type', 'local', '--model-type', 'omni'];
        const ran = await runCli([...args, '--label-substr', 'minicpmo_4_5_omniinteract'], { env });
        const subsets = { '1q1a': 2, '1q1a_math': 1, '1qna': 1 };
        const labels = Object.keys(subsets).map((subset) => `minicpmo_4_5_omniinteract_${subset}`);
        const logs = labels.map((label) => join(results, label, 'bench.log')).filter(existsSync);
        const all = [ran.stdout, ran.stderr, ...logs.map((log) => readFileSync(log, 'utf8'))].join('\n');
        expect(ran.exitCode, all).toBe(0);
        expect(readJson(join(results, 'summary.json'))).toMatchObject({
          exit_code: 0,
          cases: [
            ...Object.values(subsets).map((completed, i) => ({
              label: labels[i],
              status: 'passed',
              completed,
              failed: 0,
            })),
            { label: 'minicpmo_4_5_omniinteract', kind: 'aggregate', status: 'passed' },
          ],
        });
        for (const [i, completed] of Object.values(subsets).entries()) {
          const folder = join(results, labels[i] ?? '');
          expect(readJson(join(folder, 'result.json'))).toMatchObject({
            omniinteract: {
              success: completed,
              artifacts_complete: true,
              accuracy: { status: 'ok', evaluated: completed, failed: 0, skipped: 0 },
            },
          });
          expect(existsSync(join(folder, 'artifacts/evaluation/unified_eval_summary.json'))).toBe(true);
          expect(readFileSync(join(folder, 'bench.log'), 'utf8')).toContain('= OmniInteract Accuracy =');
        }
        const pooled = readJson(join(results, 'minicpmo_4_5_omniinteract.json'));
        expect(pooled).toMatchObject({
          broken: [],
          pooled: { num_slots: 6, Global_FP: 0, Global_FN: 2 },
          exp_f1: { nested: { num_slots: 2 }, one_qna: { num_slots: 2 } },
        });
        // The servers are gone: what is stored was made from the same inputs and stands without a judge.
        const again = await runCli([
          ...['accuracy', 'omniinteract', 'evaluate', join(results, labels[0] ?? '', 'artifacts')],
          ...['--omniinteract-judge-base-url', `http://127.0.0.1:${env.JUDGE_PORT}`],
          ...['--omniinteract-judge-model', 'Qwen/Qwen2.5-7B-Instruct', '--omniinteract-eval-skip-existing'],
          ...['--omniinteract-aggregate-min-ia-qtf1', '0.2'],
        ]);
        expect(again.exitCode, again.stderr).toBe(0);
        expect(again.stdout).toContain('Cases:                    2 evaluated, 0 failed, 0 skipped');
      });
    },
  );

  it('a gate that does not hold ends with 3, and leaves no server behind', { timeout: 120_000 }, async () => {
    await withFolder(async (dir) => {
      const port = await freePort();
      const model = 'Qwen/Qwen2.5-7B-Instruct';
      const file = join(dir, 'cases.json');
      const bench = {
        backend: 'openai-chat',
        endpoint: '/v1/chat/completions',
        'base-url': `http://127.0.0.1:${port}`,
      };
      const load = {
        model,
        'dataset-name': 'random',
        'random-input-len': 8,
        'random-output-len': 4,
        'num-prompts': 2,
      };
      const impossible = [
        {
          label: 'impossible',
          servers: ['text'],
          bench: { ...bench, ...load },
          gates: ['failed==0', 'mean_ttft_ms<0'],
        },
      ];
      const server = { command: `omnimeter serve ${model} --port ${port} --time-scale 0.01` };
      writeFileSync(file, JSON.stringify({ servers: { text: server }, cases: impossible }));
      const ran = await runCli(['bench', 'cases', file, '--results-dir', join(dir, 'results')]);
      expect(ran.exitCode, ran.stdout + ran.stderr).toBe(3);
      expect(ran.stdout).toMatch(/impossible: gate mean_ttft_ms<0 does not hold: mean_ttft_ms = \d/);
      await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow();
    });
  });
});
