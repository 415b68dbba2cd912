import { expect, test } from 'vitest';
import { isFileName } from './file-name.ts';

test.each(['a', 'a.b', '..a', 'a b', 'é'])('%j is the name of a file', (name) => {
  expect(isFileName(name)).toBe(true);
});

test.each(['.', '..', 'a/b', '/a', 'a\\b', 'a\u0000', '\n'])('%j is none', (name) => {
  expect(isFileName(name)).toBe(false);
});
