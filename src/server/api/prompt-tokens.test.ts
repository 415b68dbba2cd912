import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { property } from '../../foundation/property.suite.ts';
import { carriedTokenizer } from '../../tokens/carried-tokenizer.ts';
import { countPromptTokens, piecesOfPrompt } from './prompt-tokens.ts';

let count: (text: string) => number;
beforeAll(async () => {
  const tokenizer = await carriedTokenizer();
  count = (text) => tokenizer.count(text);
});

const words = fc.array(
  fc.oneof(
    fc.constantFrom(
      'the',
      'water',
      'a',
      "don't",
      'x1',
      '42',
      '\n',
      '  ',
      'naïve',
      '水',
      '—',
      '<|im_end|>',
      'Ünder',
    ),
    fc.string({ maxLength: 8 }),
  ),
  { maxLength: 120 },
);

describe('a prompt counted in pieces', () => {
  property([words, fc.integer({ min: 1, max: 60 })])('has the tokens of the whole', (parts, mostChars) => {
    const text = parts.join(' ');
    const pieces = [...piecesOfPrompt(text, mostChars)];
    expect(pieces.join('')).toBe(text);
    expect(pieces.reduce((sum, piece) => sum + count(piece), 0)).toBe(count(text));
  });

  test('is cut near the size that is asked for', () => {
    const pieces = [...piecesOfPrompt('some words '.repeat(1000), 1024)];
    for (const piece of pieces) expect(piece.length).toBeLessThan(1024 + 12);
    expect(pieces.length).toBeGreaterThan(9);
  });

  test.each([
    ['one letter', 'x'.repeat(50_000)],
    ['blanks', ' '.repeat(50_000)],
    ['two characters', '漢字'.repeat(25_000)],
    ['pairs of surrogates', `a${'😀'.repeat(25_000)}`],
  ])('is cut where there is no border: %s', (_what, text) => {
    const pieces = [...piecesOfPrompt(text)];
    expect(pieces.join('')).toBe(text);
    for (const piece of pieces) {
      expect(piece.length).toBeLessThanOrEqual(8192);
      expect(Buffer.from(piece).toString()).toBe(piece);
    }
    const counted = pieces.reduce((sum, piece) => sum + count(piece), 0);
    expect(Math.abs(counted - count(text))).toBeLessThanOrEqual(pieces.length);
  });

  test('is not counted much beyond what is allowed', async () => {
    let chars = 0;
    const counted = await countPromptTokens(
      'some words '.repeat(100_000),
      (piece) => {
        chars += piece.length;
        return count(piece);
      },
      1000,
    );
    expect(counted).toBeGreaterThan(1000);
    expect(chars).toBeLessThan(10_000);
  });

  test('lets other work run in between', async () => {
    let turns = 0;
    const timer = setInterval(() => {}, 1000);
    const other = setImmediate(function again() {
      turns += 1;
      if (turns < 100) setImmediate(again);
    });
    const text = 'some words '.repeat(1000);
    expect(await countPromptTokens(text, count)).toBe(count(text));
    clearImmediate(other);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(5);
  });
});
