import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OutputFileError, UsageError } from '../../foundation/errors.ts';
import { summarize } from '../../metrics/summarize.ts';
import { exampleFacts, exampleRecord } from '../../records/examples.suite.ts';
import { checkResultPath, type SaveOptions, saveResult } from './save-result.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'omnimeter-save-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const io = {
  stdout: () => {},
  stderr: () => {},
  redraw: () => {},
  settle: () => {},
  isTty: false,
  columns: 80,
  onInterrupt: () => {},
};
const summary = summarize([exampleRecord({})], exampleFacts({}));
const save = (changes: Partial<SaveOptions>): void =>
  saveResult(
    summary,
    {
      saveResult: true,
      saveDetailed: false,
      appendResult: false,
      resultDir: dir,
      resultFilename: 'r.json',
      ...changes,
    },
    io,
  );

describe('saving a result', () => {
  it('makes the folder and writes one JSON object, over an earlier one', () => {
    save({ resultDir: join(dir, 'a', 'b') });
    save({ resultDir: join(dir, 'a', 'b') });
    expect(JSON.parse(readFileSync(join(dir, 'a', 'b', 'r.json'), 'utf8'))).toMatchObject({ completed: 1 });
  });

  it('appends one object a line', () => {
    for (let i = 0; i < 3; i += 1) save({ saveResult: false, appendResult: true });
    const lines = readFileSync(join(dir, 'r.json'), 'utf8').split('\n');
    expect(lines.map((line) => JSON.parse(line).completed)).toEqual([1, 1, 1]);
  });

  it('writes nothing unasked', () => {
    save({ saveResult: false });
    expect(() => readFileSync(join(dir, 'r.json'))).toThrow();
  });

  it('says where it could not write and what to do; the run took place, so it is no usage error', () => {
    writeFileSync(join(dir, 'file'), '');
    expect(() => save({ resultDir: join(dir, 'file') })).toThrow(OutputFileError);
    expect(() => save({ resultDir: join(dir, 'file') })).toThrow(/--result-dir/);
  });
});

describe('the place of a result, before anything is sent', () => {
  const check = (changes: Partial<SaveOptions>): void =>
    checkResultPath({
      saveResult: true,
      saveDetailed: false,
      appendResult: false,
      resultDir: dir,
      resultFilename: null,
      ...changes,
    });

  it('is made where it is missing', () => {
    check({ resultDir: join(dir, 'a', 'b') });
    check({ resultDir: join(dir, 'a', 'b'), resultFilename: 'r.json' });
  });

  it.each<[string, () => Partial<SaveOptions>, RegExp]>([
    ['an empty name', () => ({ resultFilename: '' }), /--result-filename/],
    ['a name that is a folder', () => ({ resultFilename: '.' }), /is a folder/],
    ['a folder that is a file', () => ({ resultDir: join(dir, 'file') }), /--result-dir/],
    ['a folder below a file', () => ({ resultDir: join(dir, 'file', 'deeper') }), /--result-dir/],
    ['a place that can hold no folder', () => ({ resultDir: '/proc/omnimeter/x' }), /--result-dir/],
  ])('%s is a usage error', (_, changes, message) => {
    writeFileSync(join(dir, 'file'), '');
    expect(() => check(changes())).toThrow(UsageError);
    expect(() => check(changes())).toThrow(message);
  });

  it('does not matter where nothing is saved', () => {
    check({ saveResult: false, resultDir: '/proc/omnimeter' });
  });
});
