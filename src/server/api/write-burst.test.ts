import { expect, test } from 'vitest';
import { WriteBurst } from './write-burst.ts';

test('writes wait for the end of the turn, and keep their order', async () => {
  const burst = new WriteBurst();
  const written: number[] = [];
  for (const number of [1, 2, 3]) burst.add({ write: () => written.push(number) });
  expect(written).toEqual([]);
  await Promise.resolve();
  expect(written).toEqual([1, 2, 3]);
});

test('what must come after them can have them written at once', () => {
  const burst = new WriteBurst();
  const written: string[] = [];
  burst.add({ write: () => written.push('token') });
  burst.flush();
  burst.flush();
  written.push('end');
  expect(written).toEqual(['token', 'end']);
});

test('no more than 64 are held, and a write may add another', async () => {
  const burst = new WriteBurst();
  let written = 0;
  for (let i = 0; i < 64; i += 1) burst.add({ write: () => (written += 1) });
  expect(written).toBe(64);
  burst.add({ write: () => burst.add({ write: () => (written += 10) }) });
  await Promise.resolve();
  await Promise.resolve();
  expect(written).toBe(74);
});
