import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MersenneTwister } from './mersenne-twister.ts';
import { property } from './property.suite.ts';

const digits = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

// Expected values: CPython 3.11, random.Random(seed).shuffle and getrandbits(32).
describe('Mersenne twister', () => {
  it.each([
    [0, [7, 8, 1, 5, 3, 4, 2, 0, 9, 6]],
    [42, [7, 3, 2, 8, 5, 6, 9, 4, 0, 1]],
    [-3, [1, 5, 6, 0, 9, 4, 7, 2, 8, 3]],
  ])('shuffles as CPython does with seed %i', (seed, expected) => {
    expect(new MersenneTwister(seed).shuffled(digits)).toEqual(expected);
  });

  it('goes on from one shuffle to the next', () => {
    const twister = new MersenneTwister(7);
    expect(twister.shuffled(digits.slice(0, 7))).toEqual([5, 6, 4, 0, 3, 1, 2]);
    expect(twister.shuffled(digits.slice(0, 5))).toEqual([1, 3, 4, 0, 2]);
  });

  it('takes seeds of more than 32 bits', () => {
    const twister = new MersenneTwister(12_345_678_901);
    expect([twister.next32(), twister.next32(), twister.next32()]).toEqual([
      4063089813, 2562312935, 1408749075,
    ]);
  });

  it('is right beyond its first block of words', () => {
    const twister = new MersenneTwister(0);
    const words = Array.from({ length: 700 }, () => twister.next32());
    expect(words.slice(-2)).toEqual([1384956481, 3579999110]);
  });

  property([fc.integer(), fc.array(fc.integer())])('loses no item', (seed, items) => {
    const shuffled = new MersenneTwister(seed).shuffled(items);
    expect(shuffled.toSorted()).toEqual(items.toSorted());
  });
});
