import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
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

// Every write to this device fails as one to a full disk does.
test.runIf(existsSync('/dev/full'))('that has no room ends there, says so once and stops nobody', () => {
  const warnings: string[] = [];
  const log = fileTruthLog('/dev/full', (line) => warnings.push(line));
  const entry = log.entry('a');
  for (let i = 0; i < 5000; i += 1) entry.note('text', { tokens: 1, bytes: 300 });
  log.flush();
  log.close();
  expect(warnings).toEqual([
    expect.stringMatching(
      /--truth-log \/dev\/full cannot be written any more \(.*ENOSPC.*\).*Free some space/,
    ),
  ]);
});

test('on a disk that fills up ends with a whole line', () => {
  const path = join(folder, 'truth.jsonl');
  // The shell's limit on the size of files, in blocks of 512 or 1024 bytes, stands for a full disk.
  const script = `
    import { fileTruthLog } from ${JSON.stringify(new URL('./truth-log.ts', import.meta.url).href)};
    process.on('SIGXFSZ', () => {});
    const entry = fileTruthLog(${JSON.stringify(path)}).entry('a');
    for (let i = 0; i < 5000; i += 1) entry.note('text', { tokens: 1, bytes: i });
  `;
  const ran = spawnSync(
    'sh',
    [
      '-c',
      'ulimit -f 32 && exec "$0" "$@"',
      process.execPath,
      '--import',
      'tsx',
      '--input-type=module',
      '-e',
      script,
    ],
    {
      encoding: 'utf8',
    },
  );
  expect(ran.stderr).toContain('cannot be written any more');
  expect(ran.status).toBe(0);
  const text = readFileSync(path, 'utf8');
  expect(text.endsWith('\n')).toBe(true);
  const events = linesOf(path);
  expect(events.length).toBeGreaterThan(100);
  expect(events.at(-1)).toMatchObject({ id: 'a', bytes: events.length - 1 });
});
