import { describe, expect, it } from 'vitest';
import { drawNormal, type Random, randomStream } from '../../foundation/random.ts';
import { compareSides, type MetricComparison } from './compare-sides.ts';
import type { ComparedRun, Side } from './compared-run.ts';

const options = { familyError: 0.03, seed: 0, askedKeys: [] };

function logNormal(random: Random, median: number, sigma = 0.3): number {
  return median * Math.exp(sigma * drawNormal(random));
}

function runOf(ttftsMs: readonly number[], more: Partial<ComparedRun> = {}): ComparedRun {
  return {
    source: 'run',
    values: new Map(),
    records: {
      count: ttftsMs.length,
      failed: new Uint8Array(ttftsMs.length),
      columns: new Map([['ttft_ms', ttftsMs.map((value) => [value])]]),
    },
    notes: [],
    ...more,
  };
}

function sideOf(...runs: readonly ComparedRun[]): Side {
  return { label: 'side', runs };
}

function drawn(seed: number, { count = 500, shift = 1, sigma = 0.3 } = {}): ComparedRun {
  const random = randomStream(seed, 'ttft');
  return runOf(Array.from({ length: count }, () => logNormal(random, 100 * shift, sigma)));
}

function metric(key: string, baseline: Side, candidate: Side): MetricComparison {
  const found = compareSides(baseline, candidate, options).metrics.find((each) => each.key === key);
  if (!found) throw new Error(`no ${key}`);
  return found;
}

describe('the error over all metrics', () => {
  const trials = Array.from({ length: 100 }, (_, trial) => trial);
  const compare = (trial: number, shift: number) =>
    compareSides(sideOf(drawn(2 * trial)), sideOf(drawn(2 * trial + 1, { shift })), options).metrics;

  it('flags nothing in at least 93 of 100 pairs of runs of one log-normal law', { timeout: 180_000 }, () => {
    const clean = trials.filter((trial) => compare(trial, 1).every(({ flagged }) => !flagged));
    expect(clean.length).toBeGreaterThanOrEqual(93);
  });

  it('flags the mean TTFT in at least 95 of 100 where all are 10 % longer', { timeout: 180_000 }, () => {
    const found = trials.filter((trial) => {
      const mean = compare(trial, 1.1).find(({ key }) => key === 'mean_ttft_ms');
      return mean?.flagged === true && mean.verdict === 'worse';
    });
    expect(found.length).toBeGreaterThanOrEqual(95);
  });
});

describe('one metric', () => {
  it('states values, change and an interval around it', () => {
    const found = metric('mean_ttft_ms', sideOf(runOf([90, 100, 110])), sideOf(runOf([180, 200, 220])));
    expect(found).toMatchObject({ baseline: 100, candidate: 200, change: 100, changeRatio: 1, unit: 'ms' });
    // Of the 20 deals of six requests, 2 are as extreme: no flag at any error below a tenth.
    expect(found.flagged).toBe(false);
  });

  it('flags exactly where the interval leaves 0', () => {
    for (const shift of [1, 1.03, 1.06, 1.1, 1.3]) {
      const { metrics } = compareSides(sideOf(drawn(1)), sideOf(drawn(2, { shift })), options);
      for (const { interval, flagged } of metrics)
        if (interval) expect(interval.low > 0 || interval.high < 0).toBe(flagged);
    }
  });

  it('is the same whichever order the requests are in, and mirrored when sides change places', () => {
    const a = drawn(5, { count: 200 });
    const b = drawn(6, { count: 200, shift: 1.4 });
    const forth = metric('mean_ttft_ms', sideOf(a), sideOf(b));
    const back = metric('mean_ttft_ms', sideOf(b), sideOf(a));
    expect([forth.verdict, back.verdict]).toEqual(['worse', 'better']);
    expect((1 + (forth.changeRatio ?? 0)) * (1 + (back.changeRatio ?? 0))).toBeCloseTo(1, 9);
  });

  it('says nothing of what one side did not observe', () => {
    const silent: ComparedRun = runOf([]);
    const found = metric('mean_ttft_ms', sideOf(drawn(1)), sideOf(silent));
    expect(found).toMatchObject({
      candidate: null,
      change: null,
      interval: null,
      test: null,
      flagged: false,
    });
  });

  it('tests the share of failed requests', () => {
    const withFailures = (failures: number): ComparedRun => {
      const run = drawn(7, { count: 400 });
      const failed = new Uint8Array(400).fill(1, 0, failures);
      return {
        ...run,
        values: new Map([['failed', failures]]),
        records: run.records && { ...run.records, failed },
      };
    };
    expect(metric('failed', sideOf(withFailures(0)), sideOf(withFailures(1))).flagged).toBe(false);
    expect(metric('failed', sideOf(withFailures(0)), sideOf(withFailures(40)))).toMatchObject({
      flagged: true,
      verdict: 'worse',
      change: 40,
    });
  });
});

describe('several runs of a side', () => {
  const runs = (seeds: readonly number[], shifts: readonly number[]) =>
    sideOf(...seeds.map((seed, i) => drawn(seed, { count: 300, shift: shifts[i] ?? 1 })));

  it('are pooled where they agree', () => {
    const found = metric('mean_ttft_ms', runs([1, 2, 3], []), runs([4, 5, 6], [1.1, 1.1, 1.1]));
    expect(found).toMatchObject({ flagged: true, verdict: 'worse' });
  });

  it('widen the interval where they differ by more than their requests explain', () => {
    const found = metric('mean_ttft_ms', runs([1, 2, 3], [0.8, 1, 1.2]), runs([4, 5, 6], [0.9, 1.1, 1.3]));
    expect(found.flagged).toBe(false);
    expect((found.interval?.high ?? 0) - (found.interval?.low ?? 0)).toBeGreaterThan(0.5);
  });

  it('test rates by Student’s t, which one run a side does not allow', () => {
    const rates = (...values: readonly number[]): Side =>
      sideOf(
        ...values.map((value) =>
          runOf([], { records: null, values: new Map([['request_throughput', value]]) }),
        ),
      );
    expect(metric('request_throughput', rates(10, 10.1, 9.9), rates(8, 8.1, 7.9))).toMatchObject({
      test: 'runs',
      flagged: true,
      verdict: 'worse',
    });
    expect(metric('request_throughput', rates(10, 12, 8), rates(8, 9.9, 6))).toMatchObject({
      flagged: false,
    });
    expect(metric('request_throughput', rates(10), rates(5))).toMatchObject({ test: null, flagged: false });
  });
});
