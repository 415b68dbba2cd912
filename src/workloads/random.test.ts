import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { carriedTokenizer } from '../tokens/carried-tokenizer.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';
import type { DatasetOptions, LoadContext } from './dataset.ts';
import { testContext } from './load-context.suite.ts';
import { random } from './random.ts';
import type { Sample } from './sample.ts';

let tokenizer: Tokenizer;
beforeAll(async () => {
  tokenizer = await carriedTokenizer();
});

function context(changes: Partial<DatasetOptions>, more: Partial<LoadContext> = {}): LoadContext {
  return testContext(changes, { tokenizer, ...more });
}

function textOf(sample: Sample): string {
  if (typeof sample.prompt !== 'string') throw new Error('a random prompt is one text');
  return sample.prompt;
}

describe('random', () => {
  test.each([
    { input: 1, prefix: 0, prompts: 40 },
    { input: 5, prefix: 0, prompts: 40 },
    { input: 10, prefix: 3, prompts: 40 },
    { input: 100, prefix: 20, prompts: 20 },
    { input: 2500, prefix: 100, prompts: 3 },
  ])('makes prompts of exactly $prefix + $input tokens', async ({ input, prefix, prompts }) => {
    const notes: string[] = [];
    const samples = await random.load(
      context(
        { randomInputLen: input, randomPrefixLen: prefix },
        { numPrompts: prompts, note: (line) => notes.push(line) },
      ),
    );
    expect(samples).toHaveLength(prompts);
    const shared = tokenizer.encode(textOf(samples[0] as Sample)).slice(0, prefix);
    for (const sample of samples) {
      expect(tokenizer.count(textOf(sample))).toBe(prefix + input);
      expect(sample.promptTokens).toBe(prefix + input);
      expect(tokenizer.encode(textOf(sample)).slice(0, prefix)).toEqual(shared);
    }
    expect(notes).toEqual([]);
  });

  test('draws lengths over the whole range and no further', async () => {
    const samples = await random.load(
      context(
        { randomInputLen: 10, randomOutputLen: 20, randomRangeRatio: { input: 0.3, output: 0.1 } },
        { numPrompts: 300 },
      ),
    );
    const input = new Set(samples.map(({ promptTokens }) => promptTokens));
    const output = new Set(samples.map(({ expectedOutputTokens }) => expectedOutputTokens));
    expect([...input].sort((a, b) => Number(a) - Number(b))).toEqual([7, 8, 9, 10, 11, 12, 13]);
    expect([...output].sort((a, b) => Number(a) - Number(b))).toEqual([18, 19, 20, 21, 22]);
  });

  test('is a function of the seed', async () => {
    const again = await random.load(context({}));
    expect(await random.load(context({}))).toEqual(again);
    const other = await random.load(context({}, { seed: 8 }));
    expect(other.map(textOf)).not.toEqual(again.map(textOf));
  });

  test('gives the first requests the same prompts however many follow', async () => {
    const few = await random.load(
      context({ randomRangeRatio: { input: 0.5, output: 0.5 } }, { numPrompts: 3 }),
    );
    const many = await random.load(
      context({ randomRangeRatio: { input: 0.5, output: 0.5 } }, { numPrompts: 9 }),
    );
    expect(many.slice(0, 3)).toEqual(few);
  });

  test('numbers the requests and gives each a prompt of its own', async () => {
    const samples = await random.load(context({}));
    expect(samples.map(({ requestId }) => requestId)).toEqual(samples.map((_, i) => `bench-${i}`));
    expect(new Set(samples.map(textOf)).size).toBe(samples.length);
  });

  test('counts special tokens that the server adds as input', async () => {
    const adding: Tokenizer = { ...tokenizer, specialTokensAdded: 2 };
    const samples = await random.load(context({ randomInputLen: 10 }, { tokenizer: adding }));
    expect(samples.map(({ promptTokens }) => promptTokens)).toEqual(samples.map(() => 8));
    await expect(random.load(context({ randomInputLen: 2 }, { tokenizer: adding }))).rejects.toThrow(
      '--random-input-len is too small',
    );
  });

  test('says once how many prompts missed their length', async () => {
    const notes: string[] = [];
    const drifting: Tokenizer = { ...tokenizer, encode: (text) => [...tokenizer.encode(text), 0] };
    const broken: Tokenizer = { ...drifting, decode: (ids) => `x${tokenizer.decode(ids)}` };
    await random.load(context({}, { tokenizer: broken, numPrompts: 2, note: (line) => notes.push(line) }));
    expect(notes).toHaveLength(1);
    expect(notes[0]).toContain('2 of 2 prompts do not have the length asked for');
  });

  test.each([1, -0.1, Number.NaN])('refuses the range ratio %d', async (ratio) => {
    await expect(random.load(context({ randomRangeRatio: { input: 0, output: ratio } }))).rejects.toThrow(
      'expected a number in [0, 1)',
    );
  });

  test('keeps many prompts for the next run, and makes them again when they are damaged', async () => {
    const home = mkdtempSync(join(tmpdir(), 'omnimeter-random-'));
    const progress: number[] = [];
    const large = context(
      { randomInputLen: 1100 },
      { numPrompts: 50, env: { XDG_CACHE_HOME: home }, progress: (done) => progress.push(done) },
    );
    const made = await random.load(large);
    expect(made.every(({ promptTokens }) => promptTokens === 1100)).toBe(true);
    expect(progress.at(-1)).toBe(50);
    progress.length = 0;
    expect(await random.load(large)).toEqual(made);
    expect(progress).toEqual([]);
    const folder = join(home, 'omnimeter', 'random-prompts');
    for (const name of readdirSync(folder)) writeFileSync(join(folder, name), 'damaged');
    expect(await random.load(large)).toEqual(made);
    expect(progress.at(-1)).toBe(50);
    rmSync(home, { recursive: true });
  });

  test('makes as many words without a tokenizer and leaves the count open', async () => {
    const samples = await random.load(
      context({ randomInputLen: 6, randomPrefixLen: 2 }, { tokenizer: null, numPrompts: 4 }),
    );
    for (const sample of samples) {
      expect(textOf(sample).split(' ')).toHaveLength(8);
      expect(sample.promptTokens).toBeNull();
      expect(sample.expectedOutputTokens).toBe(128);
    }
    expect(new Set(samples.map((sample) => textOf(sample).split(' ').slice(0, 2).join(' '))).size).toBe(1);
  });
});
