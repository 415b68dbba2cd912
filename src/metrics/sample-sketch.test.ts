import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { sketchOf } from './sample-sketch.ts';

const sampleOf = (values: readonly number[]): Float64Array => new Float64Array(values).sort();
const finite = fc.double({ min: 0, max: 1e7, noNaN: true });

describe('a sketch', () => {
  property([fc.array(finite, { minLength: 1, maxLength: 300 })])(
    'puts every value into the bin that holds it',
    (values) => {
      const sketch = sketchOf(sampleOf(values));
      if (!sketch) throw new Error('a sample has a sketch');
      const { edges, counts } = sketch;
      expect(edges).toHaveLength(counts.length + 1);
      counts.forEach((count, i) => {
        const low = edges[i] ?? 0;
        const high = edges[i + 1] ?? 0;
        const isLast = i === counts.length - 1;
        expect(count).toBe(
          values.filter((value) => value >= low && (isLast ? value <= high : value < high)).length,
        );
      });
    },
  );

  property([fc.array(finite, { minLength: 1, maxLength: 300 })])(
    'has percentiles that rise from the least to the most',
    (values) => {
      const quantiles = sketchOf(sampleOf(values))?.quantiles ?? [];
      expect(quantiles[0]).toEqual([0, Math.min(...values)]);
      expect(quantiles.at(-1)).toEqual([100, Math.max(...values)]);
      for (let i = 1; i < quantiles.length; i += 1)
        expect(quantiles[i]?.[1]).toBeGreaterThanOrEqual(quantiles[i - 1]?.[1] ?? 0);
    },
  );

  it('is null for an empty sample and one bin for equal values', () => {
    expect(sketchOf(sampleOf([]))).toBeNull();
    expect(sketchOf(sampleOf([3, 3]))).toMatchObject({ edges: [3, 3], counts: [2] });
  });

  it('is logarithmic where the tail is long', () => {
    expect(sketchOf(sampleOf([1, 2, 3, 4]))?.scale).toBe('linear');
    expect(sketchOf(sampleOf([1, 1, 1, 4000]))?.scale).toBe('log');
    expect(sketchOf(sampleOf([0, 1, 1, 4000]))?.scale).toBe('linear');
  });
});
