import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resolveTokenizer } from './resolve-tokenizer.ts';

const fixture = fileURLToPath(new URL('./__fixtures__/tiny-wordpiece/', import.meta.url));
let home: string;
let notes: string[];
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'omnimeter-home-'));
  cpSync(fixture, join(home, 'models', 'tiny'), { recursive: true });
  mkdirSync(join(home, 'models', 'empty'));
});
afterAll(() => rmSync(home, { recursive: true }));

/** Any request would fail the test by its message: nothing listens on port 1. */
function resolve(tokenizer: string | null, model: string | null, more: Record<string, string> = {}) {
  notes = [];
  const env = { HOME: home, HF_ENDPOINT: 'http://127.0.0.1:1', ...more };
  return resolveTokenizer({ tokenizer, model, env, note: (line) => notes.push(line) });
}

describe('--tokenizer', () => {
  test.each([
    ['a folder', () => join(home, 'models', 'tiny')],
    ['a file', () => join(home, 'models', 'tiny', 'tokenizer.json')],
    ['a path from the home folder', () => '~/models/tiny'],
  ])('as %s', async (_, path) => {
    const tokenizer = await resolve(path(), 'some/model');
    expect(tokenizer.id).toBe(path());
    expect(tokenizer.encode('hello')).toEqual([4]);
    expect(notes).toEqual([]);
  });

  test.each([
    ['a path that is not there', () => join(home, 'nowhere', 'x'), /--tokenizer .*nowhere.* does not exist/],
    ['a folder without a tokenizer', () => '~/models/empty', /has no tokenizer\.json/],
    ['a hub id out of reach', () => 'acme/tiny', /no hub in reach at http:\/\/127\.0\.0\.1:1/],
    ['no name of anything', () => 'a b', /neither a path nor a model id/],
  ])('missing, as %s, is an error that says what was looked for', async (_, value, message) => {
    const failure = resolve(value(), null);
    await expect(failure).rejects.toThrow(message);
    await expect(failure).rejects.toMatchObject({ code: 'INPUT_FILE' });
    await expect(failure).rejects.toThrow(/Expected a folder or file with tokenizer\.json/);
    expect(notes).toEqual([]);
  });
});

describe('--model', () => {
  test('with a tokenizer of its own', async () => {
    expect((await resolve(null, '~/models/tiny')).vocabSize).toBe(9);
    expect(notes).toEqual([]);
  });

  test.each([
    ['a missing path', '/workspace/models/Qwen3-Omni', 'does not exist'],
    ['a relative path', './models/x', 'does not exist'],
    ['a folder without a tokenizer', '~/models/empty', 'has no tokenizer.json'],
    ['a hub id out of reach', 'Qwen/Qwen3-Omni-30B-A3B-Instruct', 'no hub in reach'],
    ['nothing', null, 'no model is named'],
  ])('as %s falls back to the carried vocabulary with one line', async (_, model, reason) => {
    const tokenizer = await resolve(null, model);
    expect(tokenizer.encode('Hello world')).toEqual([9707, 1879]);
    expect(notes).toHaveLength(1);
    expect(notes[0]).toContain('carried Qwen3 vocabulary');
    expect(notes[0]).toContain(reason);
  });

  test('with a tokenizer that cannot be read falls back too', async () => {
    const broken = join(home, 'models', 'broken');
    mkdirSync(broken);
    writeFileSync(join(broken, 'tokenizer.json'), '{');
    expect((await resolve(null, broken)).vocabSize).toBe(151_643);
    expect(notes[0]).toContain('not valid JSON');
  });
});
