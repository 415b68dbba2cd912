import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { carriedTokenizer } from './carried-tokenizer.ts';
import type { Tokenizer } from './tokenizer.ts';

let tokenizer: Tokenizer;
beforeAll(async () => {
  tokenizer = await carriedTokenizer();
});

/** Ids as the native tokenizers library gives them for the Qwen3 vocabulary. */
const vectors: [text: string, ids: number[]][] = [
  ['Hello world', [9707, 1879]],
  ['<|im_start|>', [151644]],
  ['<|im_end|>', [151645]],
  ['<|endoftext|>', [151643]],
  ['\n', [198]],
  ['!', [0]],
  ['', []],
];

describe('the carried Qwen3 vocabulary', () => {
  test.each(vectors)('encodes %j', (text, ids) => {
    expect(tokenizer.encode(text)).toEqual(ids);
    expect(tokenizer.decode(ids)).toBe(text);
    expect(tokenizer.count(text)).toBe(ids.length);
  });

  test('knows its size and its special tokens', () => {
    expect(tokenizer.vocabSize).toBe(151_643);
    expect(tokenizer.specialIds).toEqual(Array.from({ length: 14 }, (_, i) => 151_643 + i));
    expect(tokenizer.specialTokensAdded).toBe(0);
  });

  test('leaves special tokens out on request', () => {
    expect(tokenizer.decode([151644, 9707, 151645], { skipSpecialTokens: true })).toBe('Hello');
    expect(tokenizer.decode([151644], { skipSpecialTokens: true })).toBe('');
  });

  test('skips ids that have no token', () => {
    expect(tokenizer.decode([9707, 999_999])).toBe('Hello');
  });

  test('renders its chat template', () => {
    expect(
      tokenizer.renderChat([{ role: 'user', content: 'Hi' }], { extra: { enable_thinking: false } }),
    ).toBe('<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n');
    expect(tokenizer.renderChat([{ role: 'user', content: 'Hi' }], { addGenerationPrompt: false })).toBe(
      '<|im_start|>user\nHi<|im_end|>\n',
    );
  });

  property([fc.string({ unit: 'grapheme', maxLength: 200 })])(
    'round-trips any text in normal form',
    (text) => {
      const normal = text.normalize('NFC');
      expect(tokenizer.decode(tokenizer.encode(normal))).toBe(normal);
    },
  );
});
