import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from './property.suite.ts';
import { drawExponential, drawGamma, drawNormal, randomStream, shuffled } from './random.ts';
import { mean, populationStd } from './statistics.ts';

const drawMany = (draw: () => number, count = 100_000): Float64Array =>
  Float64Array.from({ length: count }, draw);

describe('random streams', () => {
  it('gives the same numbers for the same seed and purpose, others otherwise', () => {
    const first = (seed: number, purpose: string): number[] => {
      const random = randomStream(seed, purpose);
      return [random.uniform(), random.uniform(), random.uniform()];
    };
    expect(first(1, 'a')).toEqual(first(1, 'a'));
    expect(first(1, 'a')).not.toEqual(first(2, 'a'));
    expect(first(1, 'a')).not.toEqual(first(1, 'b'));
  });

  property([fc.integer(), fc.integer({ min: -50, max: 50 }), fc.nat({ max: 100 })])(
    'integers stay inside both ends',
    (seed, low, width) => {
      const random = randomStream(seed, 'test');
      for (let i = 0; i < 50; i += 1) {
        const value = random.integer(low, low + width);
        expect(Number.isInteger(value) && value >= low && value <= low + width).toBe(true);
      }
    },
  );

  it('covers a small range evenly (chi-square, 9 degrees of freedom, p ≈ 0.001 at 27.9)', () => {
    const counts = new Array<number>(10).fill(0);
    const random = randomStream(4, 'chi');
    for (let i = 0; i < 100_000; i += 1) {
      const at = random.integer(0, 9);
      counts[at] = (counts[at] ?? 0) + 1;
    }
    const chi = counts.reduce((sum, count) => sum + (count - 10_000) ** 2 / 10_000, 0);
    expect(chi).toBeLessThan(27.9);
  });
});

describe('laws', () => {
  it('exponential: mean m, std m', () => {
    const random = randomStream(1, 'exp');
    const values = drawMany(() => drawExponential(random, 3));
    expect(mean(values)).toBeCloseTo(3, 1);
    expect(populationStd(values)).toBeCloseTo(3, 1);
  });

  it('normal: mean 0, std 1, 95 % within 1.96', () => {
    const random = randomStream(1, 'normal');
    const values = drawMany(() => drawNormal(random));
    expect(mean(values)).toBeCloseTo(0, 1);
    expect(populationStd(values)).toBeCloseTo(1, 1);
    expect([...values].filter((v) => Math.abs(v) < 1.96).length / values.length).toBeCloseTo(0.95, 2);
  });

  it.each([0.3, 1, 2.5])('gamma of shape %d: mean and variance', (shape) => {
    const random = randomStream(1, 'gamma');
    const values = drawMany(() => drawGamma(random, shape, 2));
    expect((mean(values) ?? 0) / (shape * 2)).toBeCloseTo(1, 1);
    expect((populationStd(values) ?? 0) ** 2 / (shape * 4)).toBeCloseTo(1, 1);
  });

  property([fc.array(fc.integer()), fc.integer()])('a shuffle keeps every item', (items, seed) => {
    expect(shuffled(randomStream(seed, 's'), items).sort((a, b) => a - b)).toEqual(
      [...items].sort((a, b) => a - b),
    );
  });
});
