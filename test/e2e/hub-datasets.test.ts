import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hubStandIn } from '../../src/workloads/hub/hub-stand-in.suite.ts';
import { benchFlags, withRecorder } from './recorder.ts';
import { runCli, withFolder } from './run-cli.ts';

const rows = (texts: readonly string[]) =>
  texts.map((text) => `${JSON.stringify({ turns: [text], category: 'writing' })}\n`).join('');
const questions = ['What is the sea?', 'Why do hills roll?', 'Who paints the sky?', 'When does snow fall?'];

/** Texts of the prompts that arrived, in the order of their ids. */
function promptsOf(requests: readonly { readonly body: unknown }[]): string[] {
  return requests.map(({ body }) => /"text":"([^"]*)"/.exec(JSON.stringify(body))?.[1] ?? '');
}

describe('a data set of the hub', () => {
  it('is fetched once, sent, and plotted', async () => {
    const hub = await hubStandIn({
      'philschmid/mt-bench': { main: { commit: 'c'.repeat(40), files: { 'train.jsonl': rows(questions) } } },
    });
    try {
      await withFolder(async (dir) => {
        const run = async (more: readonly string[], env: Record<string, string>) =>
          await withRecorder(async (recorder) => {
            const flags = [
              ...['--backend', 'openai-chat', '--endpoint', '/v1/chat/completions', '--model', 'm'],
              ...['--skip-tokenizer-init', '--dataset-name', 'hf', '--dataset-path', 'philschmid/mt-bench'],
              ...['--num-prompts', '3', '--seed', '5', '--max-concurrency', '1', '--result-dir', dir],
              ...more,
            ];
            const result = await runCli(benchFlags(recorder.url, flags), { cwd: dir, env });
            expect(result.exitCode, result.stderr).toBe(0);
            return { ...result, prompts: promptsOf(recorder.generations()) };
          });
        const cache = { HF_HOME: join(dir, 'cache'), HF_ENDPOINT: hub.endpoint };
        const plots = ['--plot-timeline', '--plot-dataset-stats', '--result-filename', 'r.json'];
        const first = await run(plots, { ...cache, HF_HUB_OFFLINE: '' });
        expect(first.prompts).toHaveLength(3);
        expect(first.prompts.every((prompt) => questions.includes(prompt))).toBe(true);
        expect(first.stderr).toContain(`hf: philschmid/mt-bench at commit ${'c'.repeat(40)}.`);
        expect(first.stdout).toContain(`Timeline plot saved to: ${join(dir, 'r.timeline.html')}`);
        expect(readFileSync(join(dir, 'r.dataset_stats.svg'), 'utf8')).toContain('Lengths of requests: hf');
        expect(existsSync(join(dir, 'r.dataset_stats.png'))).toBe(true);
        const asked = hub.seen.length;
        const again = await run([], cache);
        expect(again.prompts).toEqual(first.prompts);
        expect(hub.seen).toHaveLength(asked);
      });
    } finally {
      await hub.close();
    }
  });

  it('that is not known is refused before anything is sent', async () => {
    const { exitCode, stderr } = await runCli([
      ...['bench', 'serve', '--base-url', 'http://127.0.0.1:9', '--model', 'm', '--skip-tokenizer-init'],
      ...['--dataset-name', 'hf', '--dataset-path', 'acme/none'],
    ]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/Unsupported dataset path: acme\/none/);
  });
});

describe('a trace', () => {
  it('is sent at its times, whatever the request rate', async () => {
    await withFolder(async (dir) => {
      const times = [100, 100.3, 100.6];
      const trace = times.map((timestamp) =>
        JSON.stringify({ timestamp, input_length: 20, output_length: 3, hash_ids: [1, 2] }),
      );
      writeFileSync(join(dir, 'trace.jsonl'), trace.join('\n'));
      await withRecorder(async (recorder) => {
        const flags = [
          ...[
            '--backend',
            'openai',
            '--model',
            'm',
            '--skip-tokenizer-init',
            '--dataset-name',
            'timed_trace',
          ],
          ...['--dataset-path', join(dir, 'trace.jsonl'), '--num-prompts', '0'],
          ...['--save-result', '--save-detailed', '--result-dir', dir, '--result-filename', 'r.json'],
        ];
        const { exitCode, stdout, stderr } = await runCli(benchFlags(recorder.url, flags), { cwd: dir });
        expect(exitCode, stderr).toBe(0);
        expect(stdout).toContain('Self timing is set, using the timestamps from the trace file.');
        const bodies = recorder.generations().map(({ body }) => body as Record<string, unknown>);
        expect(new Set(bodies.map(({ prompt }) => prompt)).size).toBe(1);
        expect(bodies.map(({ ignore_eos, max_tokens }) => [ignore_eos, max_tokens])).toEqual(
          times.map(() => [true, 3]),
        );
        const starts: number[] = JSON.parse(readFileSync(join(dir, 'r.json'), 'utf8')).start_times;
        const span = (starts[2] ?? 0) - (starts[0] ?? 0);
        // At least as far apart as the trace has it, less what a first request may be late.
        expect(span).toBeGreaterThan(0.5);
      });
    });
  });
});
