import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from './property.suite.ts';
import { recordSample, type Statistic, weighStatistics } from './record-sample.ts';
import { mean, percentileOfSorted, sortedCopy } from './statistics.ts';

const percentiles = [0, 25, 50, 99, 100];
const statistics: Statistic[] = ['mean', ...percentiles.map((percentile) => ({ percentile }))];

function weighed(valuesOf: readonly number[][], weights: readonly number[]): number[] {
  const into = new Float64Array(statistics.length);
  weighStatistics(recordSample(valuesOf, statistics), Uint16Array.from(weights), into);
  return [...into];
}

describe('weighStatistics', () => {
  it('says nothing of records without values', () => {
    expect(weighed([[], [1]], [3, 0])).toEqual(statistics.map(() => Number.NaN));
  });

  property([
    fc.array(
      fc.tuple(
        fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { maxLength: 4 }),
        fc.integer({ min: 0, max: 3 }),
      ),
      { minLength: 1, maxLength: 30 },
    ),
  ])('is what repeating each record by its weight gives', (rows) => {
    const repeated = rows.flatMap(([values, weight]) => Array.from({ length: weight }, () => values).flat());
    const sorted = sortedCopy(repeated);
    const expected = [mean(repeated), ...percentiles.map((p) => percentileOfSorted(sorted, p))];
    const found = weighed(
      rows.map(([values]) => values),
      rows.map(([, weight]) => weight),
    );
    for (const [i, value] of expected.entries())
      if (value === null) expect(found[i]).toBeNaN();
      else expect(Math.abs((found[i] ?? Number.NaN) - value)).toBeLessThan(1e-6);
  });
});
