import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { columnNames, readEvents } from './read-events.ts';

/** A line's end as JSON writes it, with columns as lists. */
function lineEnd(timesMs: readonly number[], others: number | readonly number[] = 0): Buffer {
  const columns = columnNames.map((name) => [name, name === 'timesMs' ? timesMs : others]);
  return Buffer.from(`${JSON.stringify({ n: timesMs.length, ...Object.fromEntries(columns) })}}`);
}

describe('numbers are those that JSON reads', () => {
  const finite = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
  property([fc.array(finite, { maxLength: 20 })])('%s', (timesMs) => {
    const line = lineEnd(timesMs);
    const expected = JSON.parse(line.toString().slice(0, -1)).timesMs;
    expect(Array.from(readEvents(line, 0)?.timesMs ?? [])).toEqual(expected);
  });

  property([fc.array(fc.tuple(fc.integer({ min: -1e9, max: 1e9 }), fc.integer({ min: 0, max: 9999 })))])(
    'also with four decimals, as times have',
    (pairs) => {
      const timesMs = pairs.map(([whole, decimals]) =>
        Number(`${whole}.${String(decimals).padStart(4, '0')}`),
      );
      const read = Array.from(readEvents(lineEnd(timesMs), 0)?.timesMs ?? []);
      // −0 is written as 0.
      expect(read).toEqual(timesMs.map((value) => value + 0));
    },
  );

  property([fc.stringMatching(/^-?(0|[1-9]\d{0,24})(\.\d{1,24})?([eE][+-]?\d{1,2})?$/)])(
    'in any form',
    (text) => {
      const line = Buffer.from(lineEnd([7]).toString().replace('[7]', `[${text}]`));
      expect(readEvents(line, 0)?.timesMs[0]).toBe(JSON.parse(text));
    },
  );
});

describe('what a journal does not write is left to JSON', () => {
  it.each([
    '{"n":1,"timesMs":[1],"kinds":0}}',
    '{"n":2,"timesMs":[1],"kinds":0,"tokens":0,"bytes":0,"frames":0,"responses":0}}',
    '{"n":1,"timesMs":[1,2],"kinds":0,"tokens":0,"bytes":0,"frames":0,"responses":0}}',
    '{"n":1,"timesMs":[1],"kinds":0,"tokens":0,"bytes":0,"frames":0,"responses":0}',
    '{"n":1,"timesMs":[1],"kinds":0,"tokens":0,"bytes":0,"frames":0,"responses":0}} ',
    '{"n":1,"timesMs":["1"],"kinds":0,"tokens":0,"bytes":0,"frames":0,"responses":0}}',
    '{"n":1,"timesMs":[1.],"kinds":0,"tokens":0,"bytes":0,"frames":0,"responses":0}}',
    '{"n":1,"timesMs":[-],"kinds":0,"tokens":0,"bytes":0,"frames":0,"responses":0}}',
    '{"n":1e12,"timesMs":0,"kinds":0,"tokens":0,"bytes":0,"frames":0,"responses":0}}',
    '{"n":-1,"timesMs":0,"kinds":0,"tokens":0,"bytes":0,"frames":0,"responses":0}}',
    '{"n":1.5,"timesMs":0,"kinds":0,"tokens":0,"bytes":0,"frames":0,"responses":0}}',
    '',
  ])('%j', (line) => expect(readEvents(Buffer.from(line), 0)).toBeNull());

  it('none, and one number for all', () => {
    expect(readEvents(lineEnd([], []), 0)?.timesMs).toHaveLength(0);
    expect(Array.from(readEvents(lineEnd([1, 2], 5), 0)?.tokens ?? [])).toEqual([5, 5]);
  });
});
