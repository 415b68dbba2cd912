import { describe, expect, it } from 'vitest';
import { drawNormal, randomStream } from './random.ts';
import { recordSample } from './record-sample.ts';
import {
  contrasts,
  familyCriticalValue,
  nullDeviations,
  type ScaledSample,
  shuffledContrasts,
} from './two-sample-resampling.ts';

const values = [9.2, 11.1, 10.4, 8.8, 12.9, 14.1, 13.2, 11.9, 15.3];
const groups = { first: 4, second: 5 };

function sampleOf(of: readonly number[], scale: ScaledSample['scale'] = 'difference'): ScaledSample {
  return {
    scale,
    sample: recordSample(
      of.map((value) => [value]),
      ['mean'],
    ),
  };
}

describe('contrasts', () => {
  it('are differences of means, with the variance that theory gives', () => {
    const random = randomStream(1, 'test');
    const [contrast] = contrasts([sampleOf(values)], groups, { random, replicates: 20_000 });
    expect(contrast?.change).toBeCloseTo(13.48 - 9.875, 10);
    // Of a mean under the bootstrap: the population variance over the size (numpy: var()/n).
    expect(Math.abs((contrast?.varianceFirst ?? 0) / 0.21171875 - 1)).toBeLessThan(0.05);
    expect(Math.abs((contrast?.varianceSecond ?? 0) / 0.26432 - 1)).toBeLessThan(0.05);
  });

  it('are logarithms of ratios on that scale', () => {
    const random = randomStream(1, 'test');
    const [contrast] = contrasts([sampleOf(values, 'ratio')], groups, { random, replicates: 10 });
    expect(contrast?.change).toBeCloseTo(Math.log(13.48 / 9.875), 12);
  });
});

describe('shuffledContrasts', () => {
  it('gives the permutation distribution that can be counted by hand', () => {
    // Of the C(9,4) = 126 deals, those with means at least 2 apart, by itertools.combinations in Python: 22.
    const replicates = 40_000;
    const random = randomStream(2, 'test');
    const { changes } = shuffledContrasts([sampleOf(values)], groups, { random, replicates });
    const asFar = changes.filter((change) => Math.abs(change) >= 2).length / replicates;
    expect(Math.abs(asFar - 22 / 126)).toBeLessThan(0.004);
  });

  it('is the same for the same seed', () => {
    const draw = () =>
      shuffledContrasts([sampleOf(values)], groups, { random: randomStream(3, 'test'), replicates: 50 });
    expect(draw()).toEqual(draw());
  });
});

describe('familyCriticalValue', () => {
  const random = randomStream(4, 'test');
  const many = Array.from({ length: 200 }, () => drawNormal(random));
  const two = [sampleOf(many), sampleOf(many)];
  const shuffled = shuffledContrasts(two, { first: 100, second: 100 }, { random, replicates: 8000 });
  const deviations = nullDeviations(shuffled);

  it('is near the normal quantile for one mean, and no larger for the same mean twice', () => {
    const one = familyCriticalValue(shuffled, [0], { deviations, error: 0.05 });
    expect(one).toBeGreaterThan(1.9);
    expect(one).toBeLessThan(2.02);
    expect(familyCriticalValue(shuffled, [0, 1], { deviations, error: 0.05 })).toBe(one);
  });

  it('never speaks where nothing varied, or where there are too few shuffles', () => {
    const constant = shuffledContrasts(
      [sampleOf([1, 1, 1])],
      { first: 1, second: 2 },
      { random, replicates: 99 },
    );
    const still = nullDeviations(constant);
    expect(still).toEqual(new Float64Array([0]));
    expect(familyCriticalValue(constant, [0], { deviations: still, error: 0.05 })).toBe(
      Number.POSITIVE_INFINITY,
    );
    expect(familyCriticalValue(shuffled, [0], { deviations, error: 1e-5 })).toBe(Number.POSITIVE_INFINITY);
  });
});
