import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { arrayIndexer, type EntryIndexer, lineIndexer } from './entry-index.ts';

/** Indexes a text given in pieces cut anywhere, also within a character, and returns the entries' texts. */
function entriesOf(indexer: EntryIndexer, text: string, cuts: readonly number[] = []): string[] {
  const bytes = Buffer.from(text);
  const borders = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  for (const [i, border] of borders.entries()) {
    // A copy, since an indexer may not hold on to the buffer.
    const piece = Buffer.from(bytes.subarray(borders[i - 1] ?? 0, border));
    indexer.take(piece);
    piece.fill(0);
  }
  return indexer.finish().map(({ start, end }) => bytes.toString('utf8', start, end));
}

const tricky = fc.oneof(
  fc.string({
    unit: fc.constantFrom('\\', '"', '[', ']', '{', '}', ',', '\n', 'é', '🎉', 'a'),
    maxLength: 12,
  }),
  fc.integer(),
);
const entry = fc.dictionary(
  fc.string({ maxLength: 3 }),
  fc.oneof(tricky, fc.array(tricky, { maxLength: 3 })),
  {
    maxKeys: 3,
  },
);

describe('a JSON array', () => {
  property([
    fc.array(entry, { maxLength: 6 }),
    fc.array(fc.nat(), { maxLength: 5 }),
    fc.constantFrom(0, 1, '\t'),
  ])('is cut into the entries that JSON.parse sees, whatever the pieces', (entries, cuts, indent) => {
    const text = JSON.stringify(entries, null, indent);
    expect(entriesOf(arrayIndexer(), text, cuts).map((part) => JSON.parse(part))).toEqual(JSON.parse(text));
  });

  test('knows an escaped quote whose backslash was the last byte of a piece', () => {
    const text = '[{"a":"\\""},{"b":"\\\\"}]';
    const places = Array.from({ length: text.length }, (_, at) => at);
    expect(entriesOf(arrayIndexer(), text, places)).toEqual(['{"a":"\\""}', '{"b":"\\\\"}']);
  });

  test('may begin with a byte order mark and end in blanks', () => {
    expect(entriesOf(arrayIndexer(), '\uFEFF [ {"a": 1} ,\n{} ] \n')).toEqual(['{"a": 1}', '{}']);
    expect(entriesOf(arrayIndexer(), '[]')).toEqual([]);
  });

  test.each([
    ['[{"a": 1}, {"b"', 'the file ends within the list, after 1 entries'],
    ['[{"a": "x', 'the file ends within the list'],
    ['[1, 2]', 'entry 1 is not an object'],
    ['[{}, "x"]', 'entry 2 is not an object'],
    ['[{}] {}', 'more after the end'],
    ['', 'the file ends within the list'],
  ])('refuses %j', (text, message) => {
    expect(() => entriesOf(arrayIndexer(), text)).toThrow(message);
  });
});

describe('lines', () => {
  property([
    fc.array(fc.constantFrom('', ' ', '{"a": 1}', '🎉é', '{"b": "\\n"}', '\t\r'), { maxLength: 8 }),
    fc.array(fc.nat(), { maxLength: 5 }),
    fc.boolean(),
  ])('are entries unless blank, whatever the pieces', (lines, cuts, ended) => {
    const text = lines.join('\n') + (ended ? '\n' : '');
    expect(entriesOf(lineIndexer(), text, cuts)).toEqual(lines.filter((line) => line.trim() !== ''));
  });

  test('keep a carriage return, which JSON takes for a blank', () => {
    expect(entriesOf(lineIndexer(), '{}\r\n\r\n{}')).toEqual(['{}\r', '{}']);
  });
});
