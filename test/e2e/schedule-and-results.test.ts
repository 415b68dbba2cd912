import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { benchFlags, type Recorder, type startRecorder, withRecorder } from './recorder.ts';
import { reportFigures } from './report-figures.ts';
import { type CliResult, readJson, runCli, withFolder } from './run-cli.ts';

/** Each reply takes 100 ms. */
const slow: Parameters<typeof startRecorder>[0] = {
  answer: (_request, response) => {
    setTimeout(() => {
      response.setHeader('content-type', 'text/event-stream');
      response.end('data: {"choices":[{"text":"a"}]}\n\ndata: [DONE]\n\n');
    }, 100);
    return true;
  },
};

/** Runs against a recorder, in a folder of its own, and expects success. */
async function measured<T>(
  flags: readonly string[],
  look: (seen: { run: CliResult; recorder: Recorder; dir: string }) => T | Promise<T>,
  options: Parameters<typeof startRecorder>[0] = {},
): Promise<T> {
  return withRecorder(
    (recorder) =>
      withFolder(async (dir) => {
        const run = await runCli(benchFlags(recorder.url, ['--model', 'org/m-7B', ...flags]), { cwd: dir });
        expect(run.exitCode, run.stderr).toBe(0);
        return look({ run, recorder, dir });
      }),
    options,
  );
}

const saved = ['--save-result', '--result-filename', 'r.json'];

describe('the arrival schedule', () => {
  it.each([
    [
      ['--request-rate', '200'],
      ['Traffic request rate: 200.0', 'Burstiness factor: 1.0 (Poisson process)'],
    ],
    [
      ['--request-rate', '200', '--burstiness', '2.5'],
      ['Traffic request rate: 200.0', 'Burstiness factor: 2.5 (Gamma distribution)'],
    ],
    [[], ['Traffic request rate: inf', 'Burstiness factor: 1.0 (Poisson process)']],
    [
      ['--ramp-up-strategy', 'exponential', '--ramp-up-start-rps', '50', '--ramp-up-end-rps', '200'],
      [
        'Traffic ramp-up strategy: exponential.',
        'Will increase RPS from 50 to 200 RPS over the duration of the benchmark.',
        'Burstiness factor: 1.0 (Poisson process)',
      ],
    ],
  ])('is announced: %j', async (flags, banner) => {
    await measured(['--num-prompts', '4', ...flags], ({ run }) => {
      const lines = [...banner, 'Maximum request concurrency: None'].join('\n');
      expect(run.stdout).toContain(`\nStarting main benchmark run...\n${lines}\n=`);
    });
  });

  it('is kept: constant gaps arrive as such, the last request at count / rate', async () => {
    await measured(
      ['--num-prompts', '20', '--request-rate', '20', '--burstiness', 'inf', ...saved],
      ({ recorder, run, dir }) => {
        expect(reportFigures(run.stdout).get('Serving / Request rate configured (RPS)')).toBe(20);
        const times = recorder.generations().map(({ atMs }) => atMs);
        const span = (times.at(-1) ?? 0) - (times[0] ?? 0);
        // 19 gaps of 50 ms; the bound is for a busy machine.
        expect(Math.abs(span - 950)).toBeLessThan(100);
        expect(readJson(join(dir, 'r.json'))).toMatchObject({ request_rate: 20, burstiness: 'inf' });
      },
    );
  });

  it('of a ramp is stored as the rates that were crossed', async () => {
    const ramp = ['--ramp-up-strategy', 'linear', '--ramp-up-start-rps', '40', '--ramp-up-end-rps', '44'];
    await measured(['--num-prompts', '21', ...ramp, ...saved], ({ dir }) => {
      const result = readJson(join(dir, 'r.json'));
      expect(result).toMatchObject({
        ramp_up_strategy: 'linear',
        ramp_up_start_rps: 40,
        ramp_up_end_rps: 44,
        request_rate: 'inf',
      });
      const events = result.rps_change_events as { rps: number; timestamp: string }[];
      expect(events.map(({ rps }) => rps)).toEqual([40, 41, 42, 43, 44]);
      const times = events.map(({ timestamp }) => Date.parse(timestamp));
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect(times.every((ms) => Math.abs(ms - Date.now()) < 60_000)).toBe(true);
      // The ramp reaches its end about 21 gaps of 1/42 s after its start.
      expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(100);
    });
  });
});

describe('waiting for a slot', () => {
  const queue = [
    ...['--num-prompts', '8', '--request-rate', '50', '--max-concurrency', '1'],
    ...['--percentile-metrics', 'e2el,client_queue_time,e2el_including_client_queue'],
  ];

  it('is no part of latency, and reported beside it', async () => {
    await measured(
      [...queue, ...saved, '--save-detailed'],
      ({ run, dir }) => {
        const figures = reportFigures(run.stdout);
        const queueMs = figures.get('Serving / Mean Client Queue Time (ms)') ?? 0;
        const e2elMs = figures.get('Serving / Mean E2EL (ms)') ?? 0;
        // Arrivals every 20 ms, replies every 100: the eighth request waits above half a second.
        expect(e2elMs).toBeLessThan(180);
        expect(queueMs).toBeGreaterThan(200);
        expect(figures.get('Serving / Mean E2EL incl. Client Queue (ms)')).toBeCloseTo(queueMs + e2elMs, 1);
        const result = readJson(join(dir, 'r.json')) as {
          mean_client_queue_time_ms: number;
          queue_times: number[];
          latencies: number[];
        };
        expect(result.queue_times).toHaveLength(8);
        const meanS = result.queue_times.reduce((sum, each) => sum + each, 0) / 8;
        expect(result.mean_client_queue_time_ms).toBeCloseTo(meanS * 1000, 6);
        expect(Math.max(...result.queue_times)).toBeGreaterThan(0.4);
      },
      slow,
    );
  });

  it('is stored with --omni too', async () => {
    await measured(
      ['--omni', ...queue, ...saved],
      ({ dir }) => {
        const result = readJson(join(dir, 'r.json'));
        expect(result.mean_client_queue_time_ms).toBeGreaterThan(200);
        expect(result.mean_e2el_including_client_queue_ms).toBeGreaterThan(300);
      },
      slow,
    );
  });
});

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
