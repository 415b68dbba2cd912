import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { randomStream } from '../foundation/random.ts';
import { carriedTokenizer } from '../tokens/carried-tokenizer.ts';
import { loadTokenizer } from '../tokens/load-tokenizer.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';
import { wordTokenizer } from './load-context.suite.ts';
import { makeRandomPrompt, randomPromptMaker } from './random-prompt-maker.ts';

let byteLevel: Tokenizer;
let wordPiece: Tokenizer;
beforeAll(async () => {
  byteLevel = await carriedTokenizer();
  const fixture = fileURLToPath(new URL('../tokens/__fixtures__/tiny-wordpiece/', import.meta.url));
  wordPiece = await loadTokenizer({ id: 'tiny', files: { tokenizer: `${fixture}tokenizer.json` } });
});

const request = fc.record({
  prefix: fc.nat(12),
  body: fc.integer({ min: 1, max: 40 }),
  start: fc.nat(200_000),
  seed: fc.nat(),
});

describe('a random prompt', () => {
  // The example once failed: all of the vocabulary's first bodies merge with this prefix's last token.
  property([request], { numRuns: 300, examples: [[{ prefix: 9, body: 1, start: 0, seed: 743495181 }]] })(
    'has exactly its tokens, its prefix among them',
    ({ prefix, body, start, seed }) => {
      const random = randomStream(seed, 'test');
      const maker = randomPromptMaker(byteLevel);
      const prefixIds = maker.prefix(prefix, random);
      const { text, tokens } = maker.make({ prefixIds, bodyTokens: body, start, random });
      const ids = byteLevel.encode(text);
      expect(prefixIds).toHaveLength(prefix);
      expect(tokens).toBe(prefix + body);
      expect(ids).toHaveLength(prefix + body);
      expect(ids.slice(0, prefix)).toEqual(prefixIds);
      expect(ids.some((id) => byteLevel.specialIds.includes(id))).toBe(false);
    },
  );

  property([request])(
    'is exact in a vocabulary that merges pieces into words, too',
    ({ body, start, seed }) => {
      const random = randomStream(seed, 'test');
      const { text, tokens } = randomPromptMaker(wordPiece).make({
        prefixIds: [],
        bodyTokens: body,
        start,
        random,
      });
      expect(tokens).toBe(body);
      expect(wordPiece.count(text)).toBe(body);
    },
  );

  test('of a body of consecutive ids starts where it is told to', () => {
    const random = randomStream(1, 'test');
    const make = (start: number) =>
      randomPromptMaker(wordTokenizer).make({ prefixIds: [], bodyTokens: 4, start, random }).text;
    // The word of id n is n letters long, and id 0 is special: allowed are 1…19.
    expect(make(0)).toBe('x xx xxx xxxx');
    expect(make(17)).toBe(['x'.repeat(18), 'x'.repeat(19), 'x', 'xx'].join(' '));
  });

  test('cannot be made of special tokens alone', () => {
    expect(() => randomPromptMaker({ ...wordTokenizer, vocabSize: 1 })).toThrow('no ordinary tokens');
  });
});

describe('one prompt for a probe or warm-up', () => {
  test('is a function of seed and purpose', () => {
    const make = (seed: number, purpose: string) =>
      makeRandomPrompt({ tokenizer: byteLevel, tokens: 9, seed, purpose });
    expect(make(1, 'warmup-0').tokens).toBe(9);
    expect(byteLevel.count(make(1, 'warmup-0').text)).toBe(9);
    expect(make(1, 'warmup-0')).toEqual(make(1, 'warmup-0'));
    expect(make(1, 'warmup-1')).not.toEqual(make(1, 'warmup-0'));
    expect(make(2, 'warmup-0')).not.toEqual(make(1, 'warmup-0'));
  });

  test('is words without a tokenizer', () => {
    const { text, tokens } = makeRandomPrompt({ tokenizer: null, tokens: 7, seed: 1, purpose: 'probe' });
    expect(text.split(' ')).toHaveLength(7);
    expect(tokens).toBeNull();
  });
});
