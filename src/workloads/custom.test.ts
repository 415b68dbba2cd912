import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { carriedId } from '../tokens/carried-id.ts';
import { custom } from './custom.ts';
import type { DatasetOptions, LoadContext } from './dataset.ts';
import { testContext, wordTokenizer } from './load-context.suite.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'omnimeter-custom-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
function fileOf(...rows: (object | string)[]): string {
  files += 1;
  const path = join(folder, `${files}.jsonl`);
  writeFileSync(path, rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n'));
  return path;
}

/** In the file's order, as many as it has, unless a test says otherwise. */
function contextOf(path: string, options: Partial<DatasetOptions> = {}, more: Partial<LoadContext> = {}) {
  return testContext({ path, disableShuffle: true, ...options }, { numPrompts: 0, ...more });
}

describe('custom', () => {
  test('puts prompts into the chat template for text endpoints, and says so', async () => {
    const context = contextOf(fileOf({ prompt: 'say hi' }), {
      customOutputLen: 9,
      chatTemplateKwargs: { think: true },
    });
    expect(await custom.load(context)).toEqual([
      {
        prompt: '<user> say hi <think>',
        promptTokens: 5,
        expectedOutputTokens: 9,
        media: [],
        requestId: 'bench-0',
      },
    ]);
    expect(context.notes).toEqual([expect.stringMatching(/chat template of words.*--skip-chat-template/)]);
  });

  test('never does so for chat endpoints, whose server does', async () => {
    const context = contextOf(fileOf({ prompt: 'say hi' }), {}, { chatEndpoint: true });
    expect((await custom.load(context)).map(({ prompt }) => prompt)).toEqual(['say hi']);
    expect(context.notes).toEqual([]);
  });

  test.each([
    ['--skip-chat-template', { skipChatTemplate: true }, {}, null],
    ['no tokenizer', {}, { tokenizer: null }, /there is no tokenizer/],
    [
      'a tokenizer without a template',
      {},
      { tokenizer: { ...wordTokenizer, renderChat: () => null } },
      /words has no/,
    ],
    ['a stand-in', {}, { tokenizer: { ...wordTokenizer, id: carriedId } }, /carried vocabulary stands in/],
  ])('nor with %s', async (_, options, more, reason) => {
    const context = contextOf(fileOf({ prompt: 'say hi' }), options, more);
    expect((await custom.load(context)).map(({ prompt }) => prompt)).toEqual(['say hi']);
    if (reason === null) expect(context.notes).toEqual([]);
    else expect(context.notes).toEqual([expect.stringMatching(reason)]);
  });

  test('takes each row’s own output length with -1, whatever the tokenizer', async () => {
    const path = fileOf({ prompt: 'a', output_tokens: 7 }, { prompt: 'b', output_tokens: 1 });
    for (const tokenizer of [wordTokenizer, null]) {
      const samples = await custom.load(contextOf(path, { customOutputLen: -1 }, { tokenizer }));
      expect(samples.map((s) => s.expectedOutputTokens)).toEqual([7, 1]);
    }
    const fixed = await custom.load(contextOf(path, { customOutputLen: 50 }, { tokenizer: null }));
    expect(fixed.map((s) => [s.promptTokens, s.expectedOutputTokens])).toEqual([
      [null, 50],
      [null, 50],
    ]);
  });

  test('takes all rows for a number of prompts of 0 or less, else as many, repeating if need be', async () => {
    const path = fileOf(...Array.from({ length: 5 }, (_, i) => ({ prompt: `p${i}` })));
    const chat = (numPrompts: number, options = {}) =>
      custom.load(contextOf(path, options, { numPrompts, chatEndpoint: true }));
    expect(await chat(0)).toHaveLength(5);
    expect((await chat(3)).map(({ prompt }) => prompt)).toEqual(['p0', 'p1', 'p2']);
    const more = await chat(8);
    expect(more.map(({ requestId }) => requestId)).toEqual(more.map((_, i) => `bench-${i}`));
    expect(more).toHaveLength(8);
    expect(await chat(8, { noOversample: true })).toHaveLength(5);
    const shuffledRows = await chat(5, { disableShuffle: false });
    expect(shuffledRows.map(({ prompt }) => prompt).sort()).toEqual(['p0', 'p1', 'p2', 'p3', 'p4']);
  });

  const messages = [
    { role: 'system', content: 'be brief' },
    { role: 'user', content: 'say hi' },
  ];
  const withParts = [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'see' },
        { type: 'image_url', image_url: {} },
      ],
    },
  ];

  test('sends messages as they stand to chat endpoints and templated to others', async () => {
    const path = fileOf({ messages });
    const [chat] = await custom.load(contextOf(path, {}, { chatEndpoint: true }));
    expect(chat?.chatMessages).toEqual(messages);
    expect(chat?.promptTokens).toBe(5);
    const [text] = await custom.load(contextOf(path));
    expect(text?.prompt).toBe('<system> be brief <user> say hi');
    expect(text?.chatMessages).toBeUndefined();
    const [parts] = await custom.load(contextOf(fileOf({ messages: withParts }), {}, { chatEndpoint: true }));
    expect(parts?.chatMessages).toEqual(withParts);
    expect(parts?.prompt).toBe('see');
  });

  test('puts no template around what is spoken, drawn or embedded', async () => {
    const plain = { plainPrompts: true };
    const [sample] = await custom.load(contextOf(fileOf({ prompt: 'a red fox' }), {}, plain));
    expect(sample?.prompt).toBe('a red fox');
    await expect(custom.load(contextOf(fileOf({ messages }), {}, plain))).rejects.toThrow(/no conversation/);
  });

  test.each([
    [
      'messages without a template',
      { messages },
      { skipChatTemplate: true },
      /"messages".*--skip-chat-template.*Use a chat backend/,
    ],
    ['parts for a text endpoint', { messages: withParts }, {}, /messages with parts.*Use a chat backend/],
  ])('refuses %s', async (_, row, options, message) => {
    await expect(custom.load(contextOf(fileOf({ prompt: 'a' }, row), options))).rejects.toThrow(message);
  });

  test.each([
    ['{"prompt": 42}', {}, '"prompt" is 42, expected text that is not empty'],
    ['{"prompt": ""}', {}, '"prompt" is "", expected text that is not empty'],
    ['{"text": "a"}', {}, '"prompt" is missing, expected text (or "messages", a list)'],
    ['["a"]', {}, 'the row is ["a"], expected an object'],
    ['{"prompt": "a"', {}, 'not valid JSON'],
    ['{"messages": []}', {}, '"messages" is [], expected a list of messages'],
    [
      '{"messages": [{"role": "user"}]}',
      {},
      '"messages[0]" is {"role":"user"}, expected an object with "role"',
    ],
    ['{"prompt": "a"}', { customOutputLen: -1 }, '"output_tokens" is missing, expected a whole number > 0'],
    [
      '{"prompt": "a", "output_tokens": "12k"}',
      { customOutputLen: -1 },
      '"output_tokens" is "12k", expected',
    ],
    ['{"prompt": "a", "output_tokens": 0}', { customOutputLen: -1 }, '"output_tokens" is 0, expected'],
    ['{"prompt": "a", "output_tokens": 1.5}', { customOutputLen: -1 }, '"output_tokens" is 1.5, expected'],
  ])('stops at the bad row %s, or leaves it out on request', async (row, options, message) => {
    const good = { prompt: 'fine', output_tokens: 3 };
    const path = fileOf(good, '', row, good);
    const failure = custom.load(contextOf(path, options, { chatEndpoint: true }));
    await expect(failure).rejects.toThrow(`${path}:3: ${message}`);
    await expect(failure).rejects.toThrow('--skip-invalid');
    const context = contextOf(path, { ...options, skipInvalid: true }, { chatEndpoint: true });
    expect(await custom.load(context)).toHaveLength(2);
    expect(context.notes).toEqual([expect.stringContaining('1 of 3 rows were left out')]);
  });

  test('reads a file that begins with a byte order mark', async () => {
    const path = fileOf('\uFEFF{"prompt": "a"}\r', '{"prompt": "b"}\r');
    const samples = await custom.load(contextOf(path, {}, { chatEndpoint: true }));
    expect(samples.map(({ prompt }) => prompt)).toEqual(['a', 'b']);
  });

  test('needs a .jsonl file with rows and a sensible length', async () => {
    await expect(custom.load(testContext({}))).rejects.toThrow(/needs --dataset-path/);
    await expect(custom.load(contextOf('rows.json'))).rejects.toThrow(
      'Only JSONL format is supported for CustomDataset.',
    );
    await expect(custom.load(contextOf(fileOf(''), {}, { chatEndpoint: true }))).rejects.toThrow(
      'no row to send',
    );
    await expect(custom.load(contextOf(fileOf({ prompt: 'a' }), { customOutputLen: 0 }))).rejects.toThrow(
      '--custom-output-len is 0, expected a whole number > 0, or -1',
    );
  });
});
