import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { readJson, runCli, startCli, withFolder } from './run-cli.ts';

const model = 'Qwen/Qwen3-Omni-30B-A3B-Instruct';

async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return String(typeof address === 'object' && address !== null ? address.port : 0);
}

function commandLine(dir: string, port: string): string[] {
  writeFileSync(join(dir, 'serve.json'), '{"slow": {"time-scale": 0.02}, "fast": {"time_scale": 0.01}}');
  writeFileSync(
    join(dir, 'bench.json'),
    '[{"max_concurrency": 1}, {"max_concurrency": 2}, {"max_concurrency": 3}]',
  );
  const bench = `--port ${port} --model ${model} --backend openai-chat --dataset-name random --random-input-len 8 --random-output-len 4 --num-prompts 3`;
  return [
    ...['bench', 'sweep', 'serve', '--serve-cmd', `omnimeter serve ${model} --port ${port}`],
    ...[
      '--bench-cmd',
      `omnimeter bench serve ${bench}`,
      '--num-runs',
      '1',
      '--output-dir',
      join(dir, 'results'),
    ],
    ...['--serve-params', join(dir, 'serve.json'), '--bench-params', join(dir, 'bench.json')],
  ];
}

function filesBelow(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' }).sort();
}

async function appears(path: string): Promise<void> {
  for (let tries = 0; !existsSync(path); tries += 1) {
    if (tries > 1200) throw new Error(`${path} did not appear`);
    await pause(50);
  }
}

describe('bench sweep serve', () => {
  it('killed by force and resumed, ends with the files of an undisturbed one', {
    timeout: 240_000,
  }, async () => {
    await withFolder(async (dir) => {
      const args = commandLine(dir, await freePort());
      const whole = await runCli([...args, '--experiment-name', 'whole']);
      expect(whole.exitCode, whole.stderr).toBe(0);
      const expected = filesBelow(join(dir, 'results/whole'));
      expect(expected.filter((file) => file.endsWith('run=0.json'))).toHaveLength(6);
      expect(expected).toContain('SERVE--fast-BENCH--max_concurrency=3/summary.json');
      expect(expected).toContain('summary.csv');

      const killed = startCli([...args, '--experiment-name', 'killed']);
      const third = join(dir, 'results/killed/SERVE--slow-BENCH--max_concurrency=3');
      const second = join(dir, 'results/killed/SERVE--slow-BENCH--max_concurrency=2/run=0.json');
      await appears(join(third, 'run=0.json'));
      killed.child.kill('SIGKILL');
      await killed.done;
      const kept = readFileSync(second, 'utf8');
      const refused = await runCli([...args, '--experiment-name', 'killed']);
      expect(refused.exitCode).toBe(2);
      expect(refused.stderr).toMatch(/Give --resume/);
      const resumed = await runCli([...args, '--experiment-name', 'killed', '--resume']);
      expect(resumed.exitCode, resumed.stderr).toBe(0);
      expect(filesBelow(join(dir, 'results/killed'))).toEqual(expected);
      expect(readFileSync(second, 'utf8')).toBe(kept);
      expect(resumed.stdout.match(/Found existing results/g)?.length).toBeGreaterThanOrEqual(2);

      const again = await runCli([...args, '--experiment-name', 'killed', '--resume']);
      expect(again.exitCode, again.stderr).toBe(0);
      expect(again.stdout).not.toContain('[BEGIN SERVER]');
      const run = readJson(join(third, 'run=0.json'));
      expect(run).toMatchObject({
        run_number: 0,
        _benchmark_name: 'slow',
        'time-scale': 0.02,
        max_concurrency: 3,
      });
    });
  });

  it('prints every command on one line and starts none in a dry run', async () => {
    await withFolder(async (dir) => {
      const dry = await runCli([...commandLine(dir, '1'), '--experiment-name', 'dry', '--dry-run']);
      expect(dry.exitCode, dry.stderr).toBe(0);
      const commands = dry.stdout
        .split('\n')
        .filter((line) => line.startsWith('Benchmark command: omnimeter bench serve'));
      expect(commands).toHaveLength(6);
      expect(commands[4]).toContain('--max-concurrency 2');
      expect(commands[4]).toMatch(/--result-filename run=0\.json$/);
      expect(existsSync(join(dir, 'results'))).toBe(false);
    });
  });

  it('writes failures down and goes on, and tries them again when resumed', {
    timeout: 120_000,
  }, async () => {
    await withFolder(async (dir) => {
      writeFileSync(join(dir, 'bench.json'), '[{"num_prompts": 1}, {"port": 9}]');
      const port = await freePort();
      const args = [
        ...[
          'bench',
          'sweep',
          'serve',
          '--serve-cmd',
          `omnimeter serve ${model} --port ${port} --time-scale 0.01`,
        ],
        ...[
          '--bench-cmd',
          `omnimeter bench serve --port ${port} --model ${model} --backend openai-chat --dataset-name random --random-input-len 8 --random-output-len 4`,
        ],
        ...[
          '--bench-params',
          join(dir, 'bench.json'),
          '--num-runs',
          '1',
          '-o',
          dir,
          '-e',
          'e',
          '--continue-on-error',
        ],
      ];
      const failed = await runCli(args);
      expect(failed.exitCode, failed.stderr).toBe(1);
      const file = join(dir, 'e/BENCH--port=9/run=0.failure.json');
      expect(readJson(file)).toMatchObject({
        run_number: 0,
        error_type: 'BenchmarkFailedError',
        bench_overrides: { port: 9 },
      });
      expect(String(readJson(file).error)).toContain('exit code 1');
      expect(existsSync(join(dir, 'e/BENCH--num_prompts=1/summary.json'))).toBe(true);
      expect(existsSync(join(dir, 'e/BENCH--port=9/summary.json'))).toBe(false);
      const again = await runCli([...args, '--resume']);
      expect(again.exitCode).toBe(1);
      expect(again.stdout).toContain('Found existing results.');
    });
  });
});
