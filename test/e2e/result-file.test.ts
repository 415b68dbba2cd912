import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { measured, saved, slow } from './measured.ts';
import { benchFlags, withRecorder } from './recorder.ts';
import { reportFigures } from './report-figures.ts';
import { readJson, runCli, withFolder } from './run-cli.ts';

describe('goodput', () => {
  it('counts what meets every objective', async () => {
    await measured(
      ['--num-prompts', '4', '--goodput', 'ttft:10000', 'e2el:10000', ...saved],
      ({ run, dir }) => {
        const figures = reportFigures(run.stdout);
        expect(figures.get('Serving / Request goodput (req/s)')).toBe(
          figures.get('Serving / Request throughput (req/s)'),
        );
        const result = readJson(join(dir, 'r.json'));
        expect(result.request_goodput).toBe(result.request_throughput);
      },
    );
    await measured(
      ['--num-prompts', '4', '--goodput', 'ttft:10000', 'e2el:50'],
      ({ run }) => expect(run.stdout).toMatch(/^Request goodput \(req\/s\): +0\.00\s/m),
      slow,
    );
  });

  it('has no line, and is null, where no objective is given', async () => {
    await measured(['--num-prompts', '1', ...saved], ({ run, dir }) => {
      expect(run.stdout).not.toContain('goodput');
      expect(readJson(join(dir, 'r.json')).request_goodput).toBeNull();
    });
  });
});

describe('the result file', () => {
  it('is named for the run', async () => {
    await measured(['--num-prompts', '1', '--max-concurrency', '3', '--save-result'], ({ dir, run }) => {
      const [name = '', ...others] = readdirSync(dir);
      expect(others).toEqual([]);
      expect(name).toMatch(/^openai-infqps-concurrency3-m-7B-\d{8}-\d{6}\.json$/);
      expect(run.stderr).toContain(`Result saved to ${name}`);
    });
  });

  it('stays in its folder, which is made, whatever the label', async () => {
    const label = ['--label', '/nightly/../main', '--request-rate', '50'];
    await measured(
      ['--num-prompts', '1', ...label, '--save-result', '--result-dir', 'results/today'],
      ({ dir }) => {
        expect(readdirSync(dir)).toEqual(['results']);
        expect(readdirSync(join(dir, 'results'))).toEqual(['today']);
        const [name = '', ...others] = readdirSync(join(dir, 'results', 'today'));
        expect(others).toEqual([]);
        expect(name).toMatch(/^nightly-\.\.-main-50\.0qps-m-7B-\d{8}-\d{6}\.json$/);
        expect(readJson(join(dir, 'results', 'today', name))).toMatchObject({ label: '/nightly/../main' });
      },
    );
  });

  it('takes metadata as text, which cannot replace a result', async () => {
    const metadata = ['--metadata', 'gpu=8', 'note=a = b', 'completed=99', 'label=mine'];
    await measured(['--num-prompts', '2', ...metadata, ...saved], ({ dir }) => {
      expect(readJson(join(dir, 'r.json'))).toMatchObject({
        gpu: '8',
        note: 'a = b',
        completed: 2,
        label: 'mine',
      });
    });
  });

  it('grows by a line with --append-result', async () => {
    await withRecorder(async (recorder) => {
      await withFolder(async (dir) => {
        for (const label of ['one', 'two', 'three']) {
          const { exitCode } = await runCli(
            benchFlags(recorder.url, [
              ...['--model', 'm', '--num-prompts', '1', '--append-result', '--result-filename', 'all.jsonl'],
              ...['--label', label],
            ]),
            { cwd: dir },
          );
          expect(exitCode).toBe(0);
        }
        const lines = readFileSync(join(dir, 'all.jsonl'), 'utf8').split('\n');
        expect(lines.map((line) => JSON.parse(line).label)).toEqual(['one', 'two', 'three']);
      });
    });
  });

  it('that cannot be written is found before anything is sent', async () => {
    await withRecorder(async (recorder) => {
      await withFolder(async (dir) => {
        const { exitCode, stdout, stderr } = await runCli(
          benchFlags(recorder.url, [
            ...['--model', 'm', '--num-prompts', '1', '--save-result', '--result-dir', '/dev/null/results'],
          ]),
          { cwd: dir, env: { TMPDIR: dir } },
        );
        expect(exitCode).toBe(2);
        expect(stderr).toMatch(/^error: cannot write results into \/dev\/null\/results.*--result-dir/m);
        expect(stdout).not.toContain('Starting main benchmark run');
        expect(recorder.requests).toHaveLength(0);
        expect(readdirSync(dir)).toEqual([]);
      });
    });
  });
});
