import { expect, test } from 'vitest';
import { carriedTokenizer } from '../../tokens/carried-tokenizer.ts';
import { simulatedToken, singleTokenWords } from './sim-text.ts';

test('a simulated text of n tokens has n tokens in the vocabulary, however it is cut', async () => {
  const tokenizer = await carriedTokenizer();
  for (const word of singleTokenWords) {
    expect([word, tokenizer.count(word), tokenizer.count(` ${word}`)]).toEqual([word, 1, 1]);
  }
  for (const [start, count] of [
    [0, 900],
    [77, 333],
    [250, 2000],
  ] as const) {
    const text = Array.from({ length: count }, (_, index) => simulatedToken(start, index)).join('');
    expect(tokenizer.count(text)).toBe(count);
    expect(tokenizer.count(text.trim())).toBe(count);
  }
});

test('texts use the whole list and do not follow its order', () => {
  const words = singleTokenWords.length;
  expect(new Set(singleTokenWords).size).toBe(words);
  const round = Array.from({ length: words }, (_, index) => simulatedToken(5, index));
  expect(new Set(round).size).toBe(words);
});
