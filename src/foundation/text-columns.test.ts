import { expect, test } from 'vitest';
import { textColumns } from './text-columns.ts';

test('names stand at the left, figures end at the right, and no line ends in blanks', () => {
  const rows = [
    ['run', 'cases', 'score'],
    ['a longer name', '4', '0.5'],
    ['b', '12'],
  ];
  expect(textColumns(rows, 1)).toEqual([
    'run            cases  score',
    'a longer name      4    0.5',
    'b                 12',
  ]);
  expect(textColumns(rows, 3)).toEqual([
    'run            cases  score',
    'a longer name  4      0.5',
    'b              12',
  ]);
  expect(textColumns([], 1)).toEqual([]);
});
