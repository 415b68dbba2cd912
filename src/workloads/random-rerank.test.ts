import { describe, expect, test } from 'vitest';
import { carriedTokenizer } from '../tokens/carried-tokenizer.ts';
import type { DatasetOptions } from './dataset.ts';
import { testContext } from './load-context.suite.ts';
import { random } from './random.ts';
import { randomRerank } from './random-rerank.ts';
import type { Sample } from './sample.ts';

const tokenizer = await carriedTokenizer();
const context = (options: Partial<DatasetOptions>, numPrompts: number) =>
  testContext({ name: 'random-rerank', randomInputLen: 21, ...options }, { tokenizer, numPrompts });
const lengthsOf = ({ prompt }: Sample) => [prompt].flat().map((text) => tokenizer.count(text));
const load = (options: Partial<DatasetOptions>, numPrompts: number) =>
  randomRerank.load(context(options, numPrompts));

describe('random-rerank', () => {
  test('has one query, and documents in batches', async () => {
    const samples = await load({ randomBatchSize: 2 }, 5);
    // ⌊21 / 2⌋ − 1 tokens of query; 21 − 9 − 1 of each document; query and separator stand before each document.
    expect(samples.map(lengthsOf)).toEqual([
      [9, 11, 11],
      [9, 11, 11],
      [9, 11],
    ]);
    expect(samples.map(({ promptTokens }) => promptTokens)).toEqual([42, 42, 21]);
    expect(new Set(samples.map(({ prompt }) => prompt[0])).size).toBe(1);
    expect(new Set(samples.flatMap(({ prompt }) => prompt.slice(1))).size).toBe(5);
    expect(samples.map(({ requestId }) => requestId)).toEqual(['bench-0', 'bench-1', 'bench-2']);
    for (const { expectedOutputTokens } of samples) expect(expectedOutputTokens).toBe(0);
  });

  test('without a reranker the query counts once, and as one of the prompts', async () => {
    const samples = await load({ randomBatchSize: 3, noReranker: true }, 5);
    expect(samples.map(lengthsOf)).toEqual([
      [21, 21, 21],
      [21, 21, 21],
    ]);
    expect(samples.map(({ promptTokens }) => promptTokens)).toEqual([63, 63]);
  });

  test.each([
    [1, 5],
    [5, 1],
  ])('without a reranker %d a batch of %d prompts leave no document', async (randomBatchSize, numPrompts) => {
    await expect(load({ randomBatchSize, noReranker: true }, numPrompts)).rejects.toThrow(
      '--no-reranker needs --num-prompts and --random-batch-size above 1',
    );
  });

  test('spreads lengths around the query’s remainder', async () => {
    const [sample] = await load({ randomBatchSize: 200, randomRangeRatio: { input: 0.5, output: 0 } }, 200);
    const [query = 0, ...documents] = sample === undefined ? [] : lengthsOf(sample);
    const middle = 21 - query - 1;
    expect(Math.min(...documents)).toBe(Math.floor(middle / 2));
    expect(Math.max(...documents)).toBe(Math.ceil(middle * 1.5));
  });

  test('an input that leaves no query is refused', async () => {
    await expect(load({ randomInputLen: 3 }, 5)).rejects.toThrow('--random-input-len is too small');
  });
});

test('random makes lists too: prompts are counted before they are put together', async () => {
  const samples = await random.load(context({ name: 'random', randomBatchSize: 4 }, 10));
  expect(samples.map(lengthsOf)).toEqual([Array(4).fill(21), Array(4).fill(21), Array(2).fill(21)]);
  expect(samples.map(({ promptTokens }) => promptTokens)).toEqual([84, 84, 42]);
  expect(samples.map(({ requestId, expectedOutputTokens }) => [requestId, expectedOutputTokens])).toEqual([
    ['bench-0', 0],
    ['bench-1', 0],
    ['bench-2', 0],
  ]);
});
