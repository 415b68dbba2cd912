import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OutputFileError } from '../../foundation/errors.ts';
import { summarize } from '../../metrics/summarize.ts';
import { exampleFacts, exampleRecord } from '../../records/examples.suite.ts';
import { type SaveOptions, saveResult } from './save-result.ts';

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
