import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { property } from '../../foundation/property.suite.ts';
import { textRelevance, textVector } from './text-vector.ts';

function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, slot) => sum + value * (b[slot] ?? 0), 0);
}

describe('a vector of a text', () => {
  property([fc.string(), fc.integer({ min: 1, max: 2048 })])(
    'has the asked length and norm 1',
    (text, dimensions) => {
      const vector = textVector(text, dimensions);
      expect(vector).toHaveLength(dimensions);
      expect(cosine(vector, vector)).toBeCloseTo(1, 4);
      expect(textVector(text, dimensions)).toEqual(vector);
    },
  );

  test('is nearer to that of a text with the same words', () => {
    const [query, near, far] = [
      'how do whales breathe',
      'Whales breathe air through a blowhole.',
      'The stock market fell on Monday.',
    ].map((text) => textVector(text, 1024));
    if (query === undefined || near === undefined || far === undefined) throw new Error('three texts');
    expect(cosine(query, near)).toBeGreaterThan(cosine(query, far) + 0.2);
  });
});

test('a document that answers is more relevant than one that does not', () => {
  const query = 'capital of France';
  const answer = textRelevance(query, 'Paris is the capital of France.');
  const other = textRelevance(query, 'Bananas are rich in potassium.');
  expect(answer).toBeGreaterThan(0.5);
  expect(other).toBeLessThan(0.2);
  expect(textRelevance(query, query)).toBeLessThanOrEqual(1);
});
