import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { randomPromptsCache, randomPromptsKey } from './random-prompts-cache.ts';

let home: string;
let notes: string[];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'omnimeter-cache-'));
  notes = [];
});
afterEach(() => rmSync(home, { recursive: true }));

const prompts = [
  { text: 'one\n"two"', tokens: 2 },
  { text: '三 🎉', tokens: 5 },
];

function open(more: { env?: Record<string, string>; maxBytes?: number } = {}) {
  const { env = { XDG_CACHE_HOME: home }, ...rest } = more;
  const cache = randomPromptsCache({ env, note: (line) => notes.push(line), ...rest });
  if (cache === null) throw new Error('the cache is on');
  return cache;
}

const folder = () => join(home, 'omnimeter', 'random-prompts');

describe('the cache of random prompts', () => {
  test('gives back what was written', async () => {
    expect(await open().read('a')).toBeNull();
    await open().write('a', prompts);
    expect(await open().read('a')).toEqual(prompts);
    expect(readdirSync(folder())).toEqual(['a.txt']);
    expect(notes).toEqual([]);
  });

  test('lies under ~/.cache by default', async () => {
    await open({ env: { HOME: home } }).write('a', prompts);
    expect(readdirSync(join(home, '.cache', 'omnimeter', 'random-prompts'))).toEqual(['a.txt']);
  });

  test('does not give back a damaged entry', async () => {
    await open().write('a', prompts);
    const path = join(folder(), 'a.txt');
    const whole = readFileSync(path, 'utf8');
    for (const damaged of ['', 'x', whole.slice(0, -3), whole.replace('two', 'too'), `${whole}x`]) {
      writeFileSync(path, damaged);
      expect(await open().read('a')).toBeNull();
    }
  });

  test('can be turned off', () => {
    expect(randomPromptsCache({ env: { OMNIMETER_CACHE: 'off' }, note: () => undefined })).toBeNull();
  });

  test('says when it cannot be written, and goes on', async () => {
    writeFileSync(join(home, 'omnimeter'), 'a file where the folder should be');
    await open().write('a', prompts);
    expect(notes).toHaveLength(1);
    expect(notes[0]).toMatch(/could not be kept in .*OMNIMETER_CACHE=off/);
    expect(await open().read('a')).toBeNull();
  });

  test('removes what was not used for longest when it grows too big', async () => {
    for (const key of ['a', 'b', 'c']) await open().write(key, prompts);
    for (const [age, key] of [
      [300, 'a'],
      [200, 'b'],
      [100, 'c'],
    ] as const)
      utimesSync(join(folder(), `${key}.txt`), new Date(), new Date(Date.now() - age * 1000));
    expect(await open().read('a')).toEqual(prompts);
    const bytes = readFileSync(join(folder(), 'a.txt')).length;
    await open({ maxBytes: 3 * bytes }).write('d', prompts);
    expect(readdirSync(folder()).sort()).toEqual(['a.txt', 'c.txt', 'd.txt']);
  });

  test('does not keep an entry that is too big alone', async () => {
    await open({ maxBytes: 10 }).write('a', prompts);
    expect(await open().read('a')).toBeNull();
  });

  test('names an entry by all that its prompts depend on', async () => {
    const path = join(home, 'tokenizer.json');
    writeFileSync(path, 'one');
    const source = { id: 'x', files: { tokenizer: path } };
    const job = { seed: 1, prefixTokens: 0, bodyTokens: [4], starts: [9] };
    const key = await randomPromptsKey(source, job);
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    expect(await randomPromptsKey({ ...source, id: 'y' }, job)).toBe(key);
    const others = [
      { ...job, seed: 2 },
      { ...job, prefixTokens: 1 },
      { ...job, bodyTokens: [5] },
      { ...job, starts: [8] },
    ];
    for (const other of others) expect(await randomPromptsKey(source, other)).not.toBe(key);
    writeFileSync(path, 'two');
    expect(await randomPromptsKey(source, job)).not.toBe(key);
  });
});
