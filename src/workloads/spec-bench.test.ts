import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { testContext } from './load-context.suite.ts';
import { specBench } from './spec-bench.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'omnimeter-spec-bench-'));
  path = join(folder, 'question.jsonl');
  const rows = [
    { question_id: 81, category: 'writing', turns: ['Write a post.', 'Again.'] },
    { question_id: 82, category: 'rag', turns: ['Find it.'] },
    { question_id: 83, category: 'writing', turns: ['Write a mail.'] },
  ];
  writeFileSync(path, rows.map((row) => JSON.stringify(row)).join('\n'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const load = (category: string | null = null, more = {}, around = {}) => {
  const options = {
    name: 'spec_bench',
    path,
    disableShuffle: true,
    specBench: { outputLen: 77, category },
    ...more,
  };
  const context = testContext(options, { numPrompts: 0, chatEndpoint: true, ...around });
  return specBench.load(context);
};
const prompts = async (...args: Parameters<typeof load>) => (await load(...args)).map(({ prompt }) => prompt);

test('takes first turns, of all categories or of one', async () => {
  expect(await prompts()).toEqual(['Write a post.', 'Find it.', 'Write a mail.']);
  expect(await prompts('writing')).toEqual(['Write a post.', 'Write a mail.']);
  expect((await load()).map(({ expectedOutputTokens }) => expectedOutputTokens)).toEqual([77, 77, 77]);
});

test('completions get them in the chat template, unless --skip-chat-template', async () => {
  expect((await prompts(null, {}, { chatEndpoint: false }))[0]).toBe('<user> Write a post.');
  expect((await prompts(null, { skipChatTemplate: true }, { chatEndpoint: false }))[0]).toBe('Write a post.');
});

test('repeats questions up to --num-prompts', async () => {
  expect(await load('rag', {}, { numPrompts: 4 })).toHaveLength(4);
  expect(await load('rag', { noOversample: true }, { numPrompts: 4 })).toHaveLength(1);
});

test('what is wrong is said', async () => {
  await expect(load('writin')).rejects.toThrow(
    /--spec-bench-category writin: no row has this category\. Did you mean writing\? There are: rag, writing/,
  );
  writeFileSync(path, '{"turns": ["a"]}\n{"turns": "b"}\n');
  await expect(load()).rejects.toThrow(/question\.jsonl:2: "turns" is "b", expected a list of texts/);
  await expect(load(null, { path: 'x.json' })).rejects.toThrow(
    /Only JSONL format is supported for SpecBench/,
  );
});
