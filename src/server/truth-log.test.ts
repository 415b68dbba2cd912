import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { InputFileError } from '../foundation/errors.ts';
import { fileTruthLog } from './truth-log.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'omnimeter-truth-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function linesOf(path: string): unknown[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line));
}

test('keeps one line per event, in order, with its counts', () => {
  const path = join(folder, 'truth.jsonl');
  const log = fileTruthLog(path);
  const entry = log.entry('an "id"\n');
  entry.note('headers');
  entry.note('text', { tokens: 2, bytes: 300 });
  entry.note('audio', { bytes: 9, samples: 0 });
  log.close();
  const id = 'an "id"\n';
  const t: unknown = expect.any(Number);
  expect(linesOf(path)).toEqual([
    { t, id, event: 'headers' },
    { t, id, event: 'text', tokens: 2, bytes: 300 },
    { t, id, event: 'audio', bytes: 9, samples: 0 },
  ]);
});

test('stamps with the clock that all processes of the host share', () => {
  const path = join(folder, 'truth.jsonl');
  const log = fileTruthLog(path);
  const beforeMs = Number(process.hrtime.bigint()) / 1e6;
  log.entry('a').note('done');
  const afterMs = Number(process.hrtime.bigint()) / 1e6;
  log.close();
  const [line] = linesOf(path);
  const { t } = line as { t: number };
  // The file has microseconds, and two clock readings never meet exactly.
  expect(t).toBeGreaterThan(beforeMs - 0.1);
  expect(t).toBeLessThan(afterMs + 0.1);
});

test('loses nothing that was noted when the process exits without closing it', () => {
  const path = join(folder, 'truth.jsonl');
  const script = `
    import { fileTruthLog } from ${JSON.stringify(new URL('./truth-log.ts', import.meta.url).href)};
    const entry = fileTruthLog(${JSON.stringify(path)}).entry('a');
    for (let i = 0; i < 5000; i += 1) entry.note('text', { tokens: i });
    process.exit(0);
  `;
  const run = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script]);
  expect(run.stderr.toString()).toBe('');
  const lines = linesOf(path);
  expect(lines).toHaveLength(5000);
  expect(lines.at(-1)).toMatchObject({ tokens: 4999 });
});

test('a file that cannot be written is said at once', () => {
  expect(() => fileTruthLog(join(folder, 'no', 'such', 'folder'))).toThrow(InputFileError);
});
