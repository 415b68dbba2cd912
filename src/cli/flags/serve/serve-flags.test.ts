import { expect, test } from 'vitest';
import { engineFlags } from './engine-flags.ts';
import { serveFlags } from './serve-flags.ts';

test('no flag that the server acts on is also one without effect', () => {
  const both = Object.keys(serveFlags).filter((name) => name in engineFlags);
  expect(both).toEqual([]);
});
