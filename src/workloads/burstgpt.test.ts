import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { burstgpt } from './burstgpt.ts';
import { testContext } from './load-context.suite.ts';

let folder: string;
let path: string;
const header = 'Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'omnimeter-burstgpt-'));
  path = join(folder, 'BurstGPT.csv');
});
afterEach(() => rmSync(folder, { recursive: true }));

const load = (csv: string, numPrompts = 3, more = {}) => {
  writeFileSync(path, header + csv);
  const context = testContext({ name: 'burstgpt', path, ...more }, { numPrompts });
  return burstgpt.load(context).then((samples) => ({ samples, notes: context.notes }));
};

const rows =
  '5,ChatGPT,400,10,410,Conversation log\n' +
  '6,GPT-4,11,21,32,API log\n7,GPT-4,12,22,34,API log\n8,GPT-4,13,0,13,API log\n9,GPT-4,14,24,38,API log\n';

test('takes lengths of answered GPT-4 requests, without replacement', async () => {
  const { samples, notes } = await load(rows);
  const lengths = samples.map(({ promptTokens, expectedOutputTokens }) => [
    promptTokens,
    expectedOutputTokens,
  ]);
  expect(lengths.sort()).toEqual([
    [11, 21],
    [12, 22],
    [14, 24],
  ]);
  expect(notes).toEqual(['burstgpt: 1 GPT-4 requests without prompt or answer were left out.']);
  expect(samples.map(({ requestId }) => requestId)).toEqual(['bench-0', 'bench-1', 'bench-2']);
});

test('repeats lengths where there are too few, with prompts of their own', async () => {
  const { samples, notes } = await load(rows, 9);
  expect(samples).toHaveLength(9);
  expect(new Set(samples.map(({ requestId }) => requestId)).size).toBe(9);
  expect(notes.at(-1)).toMatch(/repeat the lengths of others, for there are only 3/);
});

test('the same seed gives the same requests', async () => {
  expect((await load(rows, 7)).samples).toEqual((await load(rows, 7)).samples);
});

test('what is wrong is said with file and line', async () => {
  await expect(load('1,GPT-4,many,5,5,x\n')).rejects.toThrow(
    /BurstGPT\.csv:2: "Request tokens" is "many", expected a whole number/,
  );
  const { notes } = await load(`1,GPT-4,many,5,5,x\n${rows}`, 2, { skipInvalid: true });
  expect(notes).toContain('burstgpt: 1 rows were left out, because they do not parse.');
  await expect(load('1,ChatGPT,4,5,5,x\n')).rejects.toThrow(/no request of GPT-4/);
  writeFileSync(path, 'a,b\n1,2\n');
  await expect(burstgpt.load(testContext({ name: 'burstgpt', path }))).rejects.toThrow(
    /:1: no column "Model" among a, b/,
  );
  await expect(burstgpt.load(testContext({ name: 'burstgpt' }))).rejects.toThrow(/needs --dataset-path/);
});
