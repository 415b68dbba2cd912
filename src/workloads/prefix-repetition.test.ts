import { expect, test } from 'vitest';
import { carriedTokenizer } from '../tokens/carried-tokenizer.ts';
import { testContext } from './load-context.suite.ts';
import { prefixRepetition } from './prefix-repetition.ts';

const options = { prefixLen: 24, suffixLen: 10, numPrefixes: 3, outputLen: 5 };
const load = (numPrompts: number, more = {}, around = {}) => {
  const context = testContext(
    { name: 'prefix_repetition', prefixRepetition: options, ...more },
    { numPrompts, ...around },
  );
  return prefixRepetition.load(context).then((samples) => ({ samples, notes: context.notes }));
};

test('groups of prompts begin alike and go on apart', async () => {
  const tokenizer = await carriedTokenizer();
  const { samples, notes } = await load(8, {}, { tokenizer });
  expect(notes).toEqual([expect.stringMatching(/6 requests instead of 8: 2 for each of 3 prefixes/)]);
  expect(samples).toHaveLength(6);
  const heads = new Map<string, number>();
  for (const { prompt, promptTokens, expectedOutputTokens } of samples) {
    const ids = tokenizer.encode(String(prompt));
    expect([ids.length, promptTokens, expectedOutputTokens]).toEqual([34, 34, 5]);
    const head = ids.slice(0, 24).join();
    heads.set(head, (heads.get(head) ?? 0) + 1);
  }
  expect([...heads.values()]).toEqual([2, 2, 2]);
  expect(new Set(samples.map(({ prompt }) => prompt)).size).toBe(6);
});

test('are mixed, unless --disable-shuffle', async () => {
  const words = { tokenizer: null };
  const firsts = async (more = {}) =>
    (await load(30, more, words)).samples.map(({ prompt }) =>
      String(prompt).split(' ').slice(0, 24).join(' '),
    );
  const ordered = await firsts({ disableShuffle: true });
  expect(new Set(ordered.slice(0, 10)).size).toBe(1);
  expect(new Set((await firsts()).slice(0, 10)).size).toBeGreaterThan(1);
  expect(await firsts()).toEqual(await firsts());
});

test('more prefixes than prompts are refused', async () => {
  await expect(load(2)).rejects.toThrow(/--num-prompts \(2\) must be at least .*num-prefixes \(3\)/);
});
