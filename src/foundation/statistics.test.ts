import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearestName } from './nearest-name.ts';
import { property } from './property.suite.ts';
import { percentileOfSorted, sortedCopy, summarizeSample } from './statistics.ts';

describe('statistics', () => {
  it('matches numpy on 10, 20, 30, 40, 100', () => {
    const summary = summarizeSample([40, 10, 100, 20, 30], [25, 50, 90, 95, 99]);
    expect(summary.percentiles.map(([, value]) => Number(value?.toFixed(9)))).toEqual([20, 30, 76, 88, 97.6]);
    expect(summary.mean).toBe(40);
    expect(summary.std).toBeCloseTo(31.6227766, 7);
  });

  it('says nothing of an empty sample', () => {
    expect(summarizeSample([], [99])).toEqual({
      count: 0,
      mean: null,
      median: null,
      std: null,
      min: null,
      max: null,
      percentiles: [[99, null]],
    });
  });

  property([
    fc.array(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }), { minLength: 1 }),
    fc.array(fc.double({ min: 0, max: 100, noNaN: true })),
  ])('percentiles rise with p and stay within min…max', (values, ps) => {
    const sorted = sortedCopy(values);
    const found = ps.sort((a, b) => a - b).map((p) => percentileOfSorted(sorted, p) ?? Number.NaN);
    for (const [index, value] of found.entries()) {
      expect(value).toBeGreaterThanOrEqual(Math.min(...values) - 1e-6);
      expect(value).toBeLessThanOrEqual(Math.max(...values) + 1e-6);
      if (index > 0) expect(value).toBeGreaterThanOrEqual((found[index - 1] as number) - 1e-6);
    }
  });
});

describe('nearestName', () => {
  it.each([
    ['max-concurency', 'max-concurrency'],
    ['--backnd', '--backend'],
    ['tfft', 'ttft'],
    ['zzzzzz', null],
  ])('%s → %s', (name, expected) => {
    expect(nearestName(name, ['max-concurrency', '--backend', 'ttft', 'tpot', 'num-prompts'])).toBe(expected);
  });
});
