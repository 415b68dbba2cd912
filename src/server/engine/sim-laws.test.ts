import { describe, expect, test } from 'vitest';
import { randomStream } from '../../foundation/random.ts';
import { mean, percentileOfSorted, populationStd, sortedCopy } from '../../foundation/statistics.ts';
import { drawFirstOutputFactor, drawStepFactor, slopeFactor } from './sim-laws.ts';

const step = {
  nativeMs: 10,
  lockToUpstream: 0,
  sd: 0.045,
  outlierP: 0.01,
  outlierScale: 0.5,
  stallMs: 0,
  stallAtToken: 0,
};
const random = randomStream(1, 'test');
const factors = Array.from({ length: 200_000 }, () => drawStepFactor(step, random));

describe('noise', () => {
  test('has mean one: outliers do not make a stage slower', () => {
    expect(mean(factors)).toBeCloseTo(1, 3);
  });

  test('is a normal with rare outliers of a quarter to three quarters', () => {
    const sorted = sortedCopy(factors);
    const share = sorted.filter((factor) => factor > 1.22).length / sorted.length;
    expect(share).toBeGreaterThan(0.0085);
    expect(share).toBeLessThan(0.0105);
    expect(percentileOfSorted(sorted, 100)).toBeLessThan(1.75 + 5 * 0.045);
    // Between the quartiles a normal spans 1.349 standard deviations.
    const spread = (percentileOfSorted(sorted, 75) ?? 0) - (percentileOfSorted(sorted, 25) ?? 0);
    expect(Math.abs(spread / 1.349 / 0.045 - 1)).toBeLessThan(0.03);
  });

  test('of a first output is a normal', () => {
    const drawn = Array.from({ length: 50_000 }, () =>
      drawFirstOutputFactor({ baseMs: 1, perInputTokenMs: 0, sd: 0.01 }, random),
    );
    expect(mean(drawn)).toBeCloseTo(1, 3);
    expect(populationStd(drawn)).toBeCloseTo(0.01, 3);
  });

  test('off is off', () => {
    expect(drawStepFactor({ ...step, sd: 0, outlierP: 0 }, random)).toBe(1);
    expect(drawFirstOutputFactor({ baseMs: 1, perInputTokenMs: 0, sd: 0 }, random)).toBe(1);
  });
});

test('load slows a stage in proportion to the other requests', () => {
  expect(slopeFactor(0.06, 1)).toBe(1);
  // 8.3 ms alone become 12.8 ms among ten.
  expect(8.3 * slopeFactor(0.06, 10)).toBeCloseTo(12.782, 3);
});
