import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { property } from '../../foundation/property.suite.ts';
import { binsOf, tokenHistogramsSvg } from './token-histograms.ts';

describe('bins', () => {
  property([fc.array(fc.nat(100_000), { minLength: 1, maxLength: 200 })])(
    'hold every value once, side by side, few of them',
    (values) => {
      const bins = binsOf(values);
      expect(bins.length).toBeLessThanOrEqual(40);
      expect(bins.reduce((sum, { count }) => sum + count, 0)).toBe(values.length);
      for (const [at, { low, high, count }] of bins.entries()) {
        expect(count).toBe(values.filter((value) => value >= low && value < high).length);
        if (at > 0) expect(low).toBe(bins[at - 1]?.high);
      }
    },
  );

  test('few values have one each', () => {
    expect(binsOf([3, 5, 5])).toEqual([
      { low: 3, high: 4, count: 1 },
      { low: 4, high: 5, count: 0 },
      { low: 5, high: 6, count: 2 },
    ]);
    expect(binsOf([])).toEqual([]);
  });
});

test('the picture says the figures, and shows foreign text as text', () => {
  const svg = tokenHistogramsSvg({
    title: '<script>x',
    samples: [
      { title: 'Prompt tokens', values: [10, 20, 30], colour: '#000' },
      { title: 'Output', values: [], colour: '#000' },
    ],
  });
  expect(svg).not.toContain('<script>');
  expect(svg).toContain('n 3, mean 20, P50 20, P99 29.8');
  expect(svg).toContain('10 tokens: 1');
  expect(svg).toContain('not known');
  expect(svg).not.toMatch(/NaN|undefined|Infinity/);
});
