import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { measured, saved, slow } from './measured.ts';
import { reportFigures } from './report-figures.ts';
import { readJson } from './run-cli.ts';

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
