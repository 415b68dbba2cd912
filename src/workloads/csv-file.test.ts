import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { CsvSplitter, countOf, readCsv } from './csv-file.ts';

/** As RFC 4180 writes it, every field in quotes or as it is. */
function written(rows: readonly (readonly string[])[], lineEnd: string): string {
  const field = (text: string) =>
    /[",\r\n]/.test(text) || text === '' ? `"${text.replaceAll('"', '""')}"` : text;
  return rows.map((row) => row.map(field).join(',') + lineEnd).join('');
}

const text = fc.stringMatching(/^[ab",\r\n é]{0,6}$/);
const table = fc.array(fc.array(text, { minLength: 2, maxLength: 4 }), { maxLength: 5 });

describe('splitting', () => {
  property([table, fc.constantFrom('\n', '\r\n'), fc.array(fc.nat(40))])(
    'does not depend on where the text is cut',
    (rows, lineEnd, cuts) => {
      const csv = written(rows, lineEnd);
      const places = [0, ...cuts.filter((at) => at < csv.length).sort((a, b) => a - b), csv.length];
      const found: string[][] = [];
      const splitter = new CsvSplitter((fields) => found.push(fields));
      for (const [i, from] of places.entries()) splitter.push(csv.slice(from, places[i + 1] ?? csv.length));
      splitter.finish();
      expect(found).toEqual(rows);
    },
  );

  test('a carriage return in quotes stays, one before the line end does not', () => {
    for (const cut of [0, 5, 6, 7, 8]) {
      const found: string[][] = [];
      const splitter = new CsvSplitter((fields) => found.push(fields));
      const csv = 'a,"b\r"\r\nc,d\r';
      splitter.push(csv.slice(0, cut));
      splitter.push(csv.slice(cut));
      splitter.finish();
      expect(found).toEqual([
        ['a', 'b\r'],
        ['c', 'd'],
      ]);
    }
  });

  test('counts lines, also those in quotes', () => {
    const lines: number[] = [];
    const splitter = new CsvSplitter((_, line) => lines.push(line));
    splitter.push('a,b\n"x\ny",2\n\nlast,row');
    splitter.finish();
    expect(lines).toEqual([1, 2, 5]);
  });
});

describe('a file', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'omnimeter-csv-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test('is read by its header', async () => {
    const path = join(folder, 'a.csv');
    writeFileSync(path, '\uFEFFone, two\r\n1,2\r\n3\r\n');
    const rows: (string | undefined)[][] = [];
    await readCsv(path, { row: ({ get }) => rows.push([get('one'), get('two'), get('three')]) });
    expect(rows).toEqual([
      ['1', '2', undefined],
      ['3', undefined, undefined],
    ]);
  });

  test('that is broken or missing is said', async () => {
    const path = join(folder, 'a.csv');
    writeFileSync(path, 'one\n"never closed\n');
    await expect(readCsv(path, { row: () => undefined })).rejects.toThrow(
      /a\.csv: .*starts in line 2 never ends/,
    );
    await expect(readCsv(join(folder, 'b.csv'), { row: () => undefined })).rejects.toThrow(/b\.csv: ENOENT/);
  });
});

test.each([
  ['12', 12],
  [' 12.0 ', 12],
  ['0', 0],
  ['-1', null],
  ['1.5', null],
  ['', null],
  [undefined, null],
])('%j counts %j', (field, expected) => expect(countOf(field)).toBe(expected));
