import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { randomStream } from '../foundation/random.ts';
import { mean, populationStd } from '../foundation/statistics.ts';
import { arrivalPacer, dueTimesMs } from './arrival-schedule.ts';
import { type RatePlan, rateAt, rateSteps } from './rate-plan.ts';

const steady = (rps: number): RatePlan => ({ kind: 'steady', rps });
const schedule = (count: number, rate: RatePlan, burstiness: number, seed = 1): number[] => {
  const pacer = arrivalPacer({ count, rate, burstiness }, randomStream(seed, 'arrivals'));
  return Array.from({ length: count }, (_, index) => pacer.dueAtMs(index) ?? Number.NaN);
};
const gapsOf = (due: readonly number[]): number[] => due.map((at, index) => at - (due[index - 1] ?? 0));

describe('due times', () => {
  it('scales the worked example of gaps 0.2, 0.1, 0.5, 0.2 s at 2/s', () => {
    expect([...dueTimesMs([0.2, 0.1, 0.5, 0.2], steady(2))].map((t) => Number(t.toFixed(9)))).toEqual([
      400, 600, 1600, 2000,
    ]);
  });

  it('puts everything at the start when the rate is infinite', () => {
    expect(schedule(4, steady(Number.POSITIVE_INFINITY), 1)).toEqual([0, 0, 0, 0]);
  });

  it('spaces constant arrivals evenly', () => {
    expect(schedule(3, steady(4), Number.POSITIVE_INFINITY)).toEqual([250, 500, 750]);
  });

  it('does not rescale a ramp: constant gaps of 1/rate', () => {
    const due = schedule(3, { kind: 'linear', startRps: 1, endRps: 4 }, Number.POSITIVE_INFINITY);
    expect(due.map((t) => Math.round(t))).toEqual([1000, 1400, 1650]);
  });

  it('ends after the last request', () => {
    const pacer = arrivalPacer({ count: 2, rate: steady(1), burstiness: 1 }, randomStream(0, 'arrivals'));
    expect(pacer.dueAtMs(2)).toBeNull();
  });

  property([
    fc.integer({ min: 1, max: 300 }),
    fc.double({ min: 0.01, max: 1000, noNaN: true }),
    fc.double({ min: 0.05, max: 20, noNaN: true }),
    fc.integer(),
  ])('never falls, is reproducible, and the last leaves at count/rate', (count, rps, burstiness, seed) => {
    const due = schedule(count, steady(rps), burstiness, seed);
    expect(due).toEqual(schedule(count, steady(rps), burstiness, seed));
    for (const gap of gapsOf(due)) expect(gap).toBeGreaterThanOrEqual(0);
    expect((due.at(-1) as number) / ((count / rps) * 1000)).toBeCloseTo(1, 9);
  });

  it.each([
    [0.25, 2],
    [1, 1],
    [4, 0.5],
  ])('burstiness %d gives gaps with a coefficient of variation of %d', (burstiness, expected) => {
    const gaps = gapsOf(schedule(60_000, steady(100), burstiness, 7));
    expect((populationStd(gaps) ?? 0) / (mean(gaps) ?? 1)).toBeCloseTo(expected, 1);
  });
});

describe('ramps', () => {
  const rates = (plan: RatePlan): number[] =>
    [0, 1, 2, 3, 4].map((index) => Number(rateAt(plan, index, 5).toFixed(9)));

  it('rises linearly over the index', () => {
    expect(rates({ kind: 'linear', startRps: 2, endRps: 10 })).toEqual([2, 4, 6, 8, 10]);
  });

  it('rises exponentially over the index', () => {
    expect(rates({ kind: 'exponential', startRps: 2, endRps: 32 })).toEqual([2, 4, 8, 16, 32]);
  });

  it('reports the start and each whole rate crossed, with the request that crossed it', () => {
    expect(rateSteps({ kind: 'exponential', startRps: 2, endRps: 8 }, 3)).toEqual([
      { rps: 2, index: 0 },
      { rps: 3, index: 1 },
      { rps: 4, index: 1 },
      { rps: 5, index: 2 },
      { rps: 6, index: 2 },
      { rps: 7, index: 2 },
      { rps: 8, index: 2 },
    ]);
    expect(rateSteps(steady(5), 10)).toEqual([]);
  });
});
