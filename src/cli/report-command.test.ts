import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exampleFacts, exampleRecord } from '../records/examples.suite.ts';
import { openJournal } from '../records/journal.ts';
import { reportCommand } from './report-command.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'omnimeter-report-'));
  const journal = openJournal(dir, (message) => {
    throw new Error(message);
  });
  journal.describe(exampleFacts({ numPrompts: 1 }));
  journal.append(exampleRecord({ index: 0 }));
  journal.close();
});
afterEach(() => rmSync(dir, { recursive: true }));

async function report(...argv: string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const io = {
    stdout: (line: string) => void out.push(line),
    stderr: (line: string) => void err.push(line),
    redraw: () => {},
    settle: () => {},
    isTty: false,
    columns: 80,
    onInterrupt: () => {},
  };
  const exitCode = await reportCommand.run([dir, ...argv], { env: {}, io });
  return { exitCode, out: out.join('\n'), err: err.join('\n') };
}

describe('a run without its records', () => {
  it.each([
    ['an empty file', ''],
    ['lines that cannot be read', 'x\n{}\n'],
  ])('of %s ends with 1', async (_, text) => {
    expect((await report()).exitCode).toBe(0);
    writeFileSync(join(dir, 'records.jsonl'), text);
    const { exitCode, err } = await report();
    expect(exitCode).toBe(1);
    expect(err).toMatch(/^warning: .*1 of 1 records are missing/m);
  });
});

describe('outputs of report', () => {
  it.each([
    ['--html', 'records.jsonl'],
    ['--html', 'run.json'],
    ['--result-filename', 'run.json'],
    ['--output', 'run.json'],
    ['--output', 'records.jsonl'],
    // Its second file, beside the one that is named.
    ['--output', 'records.json'],
  ])('never overwrite the run: %s %s', async (flag, name) => {
    const files = ['records.jsonl', 'run.json'].map((file) => readFileSync(join(dir, file), 'utf8'));
    const others = ['--save-result', '--export', 'aiperf', '--html', join(dir, 'page.html')];
    await expect(report(...others, flag, join(dir, name))).rejects.toThrow(
      new RegExp(`${flag}: .* is read by this command and would be overwritten`),
    );
    expect(readdirSync(dir).sort()).toEqual(['records.jsonl', 'run.json']);
    expect(['records.jsonl', 'run.json'].map((file) => readFileSync(join(dir, file), 'utf8'))).toEqual(files);
  });
});
