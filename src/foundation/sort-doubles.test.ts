import { expect, test } from 'vitest';
import { randomStream } from './random.ts';
import { sortDoubles } from './sort-doubles.ts';

const random = randomStream(3, 'sort');
const laws: readonly [string, () => number][] = [
  ['gaps of milliseconds', () => Math.round((8 + random.uniform() * 10) * 1e4) / 1e4],
  ['many magnitudes', () => 10 ** (random.uniform() * 600 - 300)],
  ['few values', () => random.integer(0, 3)],
  ['one value', () => 7.5],
  ['some negative', () => random.uniform() - 0.001],
  ['with infinities', () => (random.uniform() < 0.01 ? Number.POSITIVE_INFINITY : random.uniform())],
];

test.each(laws)('%s are in the order that the platform sorts them in', (_, draw) => {
  for (const length of [0, 1, 1000, 250_000]) {
    const values = Float64Array.from({ length }, draw);
    const expected = values.slice().sort();
    const sorted = sortDoubles(values);
    expect(sorted.length).toBe(length);
    expect(sorted.every((value, i) => Object.is(value, expected[i]))).toBe(true);
  }
});

test('a part of a larger buffer', () => {
  const all = Float64Array.from({ length: 300_010 }, () => random.uniform());
  const part = all.subarray(5, 300_005);
  const expected = part.slice().sort();
  const sorted = sortDoubles(part);
  expect(sorted.every((value, i) => value === expected[i])).toBe(true);
});
