import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { testContext, wordTokenizer } from './load-context.suite.ts';
import { sonnet } from './sonnet.ts';

let folder: string;
let path: string;
/** 40 lines of five words, each with a name of its own. */
const lines = Array.from({ length: 40 }, (_, i) => `line${i} two three four five`);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'omnimeter-sonnet-'));
  path = join(folder, 'poem.txt');
  writeFileSync(path, `${lines.join('\n')}\n`);
});
afterEach(() => rmSync(folder, { recursive: true }));

const lengths = { inputLen: 72, outputLen: 9, prefixLen: 27 };
const load = (more = {}, around = {}) => {
  const context = testContext(
    { name: 'sonnet', path, sonnet: lengths, ...more },
    { numPrompts: 12, ...around },
  );
  return sonnet.load(context).then((samples) => ({ samples, notes: context.notes }));
};

// The test's tokenizer counts words, and its template puts one before the prompt: `<user> `. The base text has 11
// words, so 12 are spent before the poem; (72 − 12) / 5 = 12 lines, of which (27 − 12) / 5 = 3 are the prefix.
test('chat endpoints get the plain prompt, of the length asked for', async () => {
  const { samples } = await load({}, { chatEndpoint: true });
  expect(samples).toHaveLength(12);
  for (const { prompt, promptTokens, expectedOutputTokens } of samples) {
    const [base, ...poem] = String(prompt).trimEnd().split('\n');
    expect(base).toBe('Pick as many lines as you can from these poem lines:');
    expect(poem).toHaveLength(12);
    expect(poem.slice(0, 3)).toEqual(lines.slice(0, 3));
    expect(poem.every((line) => lines.includes(line))).toBe(true);
    expect([promptTokens, expectedOutputTokens]).toEqual([72, 9]);
  }
  expect(new Set(samples.map(({ prompt }) => prompt)).size).toBe(12);
});

test('completions get it in the chat template', async () => {
  const { samples } = await load();
  expect(samples.every(({ prompt }) => String(prompt).startsWith('<user> Pick as many lines'))).toBe(true);
});

test('the same seed gives the same prompts', async () => {
  expect((await load()).samples).toEqual((await load()).samples);
});

test('prompts that come out too long are drawn again', async () => {
  writeFileSync(path, `${[...lines, `${'long '.repeat(30)}`].join('\n')}\n`);
  const { samples } = await load();
  expect(Math.max(...samples.map(({ promptTokens }) => promptTokens ?? 0))).toBeLessThanOrEqual(72);
});

test('what cannot be is refused', async () => {
  await expect(load({ sonnet: { ...lengths, inputLen: 12 } })).rejects.toThrow(
    /--sonnet-input-len is 12, and the words before the poem alone take 12 tokens/,
  );
  await expect(load({ sonnet: { ...lengths, prefixLen: 100 } })).rejects.toThrow(
    /--sonnet-prefix-len 100 is above/,
  );
  await expect(load({ path: null })).rejects.toThrow(/needs --dataset-path/);
  await expect(load({ path: join(folder, 'none.txt') })).rejects.toThrow(/none\.txt: ENOENT/);
  await expect(load({}, { tokenizer: null })).rejects.toThrow(/needs a tokenizer/);
  writeFileSync(path, '');
  await expect(load()).rejects.toThrow(/the file is empty/);
  writeFileSync(path, `${'one '.repeat(40)}\n${'x\n'.repeat(200)}`);
  await expect(load({}, { tokenizer: wordTokenizer })).rejects.toThrow(/prompts in a row were longer/);
});
