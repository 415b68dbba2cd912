import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readRun } from '../../src/records/journal.ts';
import { readJson, runCli, startEmbeddedServer, withFolder } from './run-cli.ts';
import { mostOpen, readTruth } from './truth.ts';

const requests = 20_000;
const concurrency = 1000;
const outputTokens = 6;
const model = 'Qwen/Qwen3-Omni-30B-A3B-Instruct';
const laws = JSON.stringify({
  '0': {
    ttft: { baseMs: 20, perInputTokenMs: 0 },
    step: { nativeMs: 5 },
    batchSlope: 0,
    maxNumSeqs: 4096,
  },
});

/** Makes a Node process write its peak memory, bytes, to a file as it ends. */
function memoryProbe(path: string): Record<string, string> {
  const script = `
    import { isMainThread } from 'node:worker_threads';
    import { writeFileSync } from 'node:fs';
    if (isMainThread) process.on('exit', () =>
      writeFileSync(process.env.PEAK_MEMORY_FILE, String(process.resourceUsage().maxRSS * 1024)));`;
  return {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}`,
    PEAK_MEMORY_FILE: path,
  };
}

test.each([
  ['openai', '1', []],
  ['openai-chat-omni', '2', ['--omni', '--extra-body', '{"modalities": ["text"]}']],
])(
  '20,000 requests at concurrency 1,000, %s with %s load thread(s)',
  async (backend, threads, flags) => {
    await withFolder(async (dir) => {
      const runDir = join(dir, 'run');
      const truthPath = join(dir, 'truth.jsonl');
      const peakPath = join(dir, 'peak');
      const server = await startEmbeddedServer([model, '--stage-overrides', laws, '--truth-log', truthPath]);
      try {
        const run = await runCli(
          [
            ...['bench', 'serve', '--base-url', server.url, '--model', model, '--backend', backend, ...flags],
            ...['--random-input-len', '8', '--random-output-len', String(outputTokens)],
            ...['--num-prompts', String(requests), '--max-concurrency', String(concurrency)],
            ...['--load-threads', threads, '--run-dir', runDir, '--save-result', '--save-detailed'],
            ...['--result-dir', dir, '--result-filename', 'result.json'],
          ],
          { env: memoryProbe(peakPath) },
        );
        expect(run.exitCode, run.stderr).toBe(0);
      } finally {
        await server.close();
      }

      const { facts, records } = await readRun(runDir);
      const seen = new Uint8Array(requests);
      for (const { index } of records) seen[index] = (seen[index] ?? 0) + 1;
      expect(records).toHaveLength(requests);
      expect(seen.every((times) => times === 1)).toBe(true);
      expect(readJson(join(dir, 'result.json'))).toMatchObject({
        completed: requests,
        failed: 0,
        total_output_tokens: requests * outputTokens,
      });
      expect(facts.self?.maxInFlight).toBe(concurrency);

      const truth = readTruth(truthPath);
      expect(truth.size).toBe(requests);
      expect(mostOpen(truth)).toBeLessThanOrEqual(concurrency);
      expect(mostOpen(truth)).toBeGreaterThan(concurrency / 2);

      const peakBytes = Number(readFileSync(peakPath, 'utf8'));
      expect(peakBytes).toBeGreaterThan(0);
      expect(peakBytes).toBeLessThanOrEqual(700e6);
    });
  },
  240_000,
);
