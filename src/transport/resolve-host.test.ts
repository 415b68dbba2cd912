import { describe, expect, test } from 'vitest';
import { cachedLookup } from './resolve-host.ts';

function resolve(lookup: ReturnType<typeof cachedLookup>, name: string, all: boolean): Promise<unknown[]> {
  return new Promise((done) => {
    lookup(name, { all }, (...answer) => done(answer));
  });
}

describe('cachedLookup', () => {
  test('answers in both forms that node asks for, first and again', async () => {
    const lookup = cachedLookup(() => 0);
    for (let i = 0; i < 2; i += 1) {
      expect(await resolve(lookup, '127.0.0.1', false)).toEqual([null, '127.0.0.1', 4]);
      expect(await resolve(lookup, '127.0.0.1', true)).toEqual([null, [{ address: '127.0.0.1', family: 4 }]]);
    }
  });

  test('simultaneous questions get one answer, failures are reported', async () => {
    const lookup = cachedLookup(() => 0);
    const answers = await Promise.all(Array.from({ length: 50 }, () => resolve(lookup, 'localhost', true)));
    expect(new Set(answers.map(([, addresses]) => addresses)).size).toBe(1);
    const [error] = await resolve(lookup, 'no host has a name with blanks', true);
    expect(error).toBeInstanceOf(Error);
  });

  test('an answer is kept for five minutes', async () => {
    let nowMs = 0;
    const lookup = cachedLookup(() => nowMs);
    const [, first] = await resolve(lookup, 'localhost', true);
    nowMs = 299_999;
    expect((await resolve(lookup, 'localhost', true))[1]).toBe(first);
    nowMs = 300_001;
    expect((await resolve(lookup, 'localhost', true))[1]).not.toBe(first);
  });
});
