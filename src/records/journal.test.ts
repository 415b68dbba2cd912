import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InputFileError } from '../foundation/errors.ts';
import { property } from '../foundation/property.suite.ts';
import { type EventKind, eventKinds, eventLogOf } from './event-log.ts';
import { exampleFacts, exampleRecord, exampleSession } from './examples.suite.ts';
import { openJournal, readRun } from './journal.ts';
import { journalMs } from './journal-ms.ts';
import { decodeRecord, encodeRecord } from './record-json.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'omnimeter-journal-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));
const fail = (message: string): void => {
  throw new Error(message);
};

const time = fc.double({ min: 0, max: 1e9, noNaN: true }).map(journalMs);
// A key named __proto__ is left out on reading, on purpose: it could only be an attack.
const safeKey = fc.string().filter((key) => key !== '__proto__');
const row = fc.record({
  timeMs: time,
  kind: fc.constantFrom(...(Object.values(eventKinds) as EventKind[])),
  tokens: fc.option(fc.nat(1000)),
  bytes: fc.nat(1e9),
  frames: fc.option(fc.nat(1e6)),
  response: fc.nat(3),
});

describe('one record', () => {
  property([
    fc.array(row, { maxLength: 40 }),
    fc.string({ unit: 'binary' }),
    fc.dictionary(
      safeKey,
      fc.jsonValue().filter((value) => !JSON.stringify(value).includes('__proto__')),
    ),
  ])('is the same after a round trip', (rows, text, usage) => {
    const record = {
      ...exampleRecord({ events: eventLogOf(rows), text }),
      responses: [
        {
          id: null,
          finishReason: null,
          usage: JSON.parse(JSON.stringify(usage)),
          stages: { '0': { odd: [1] } },
          stageDurations: {},
          peakMemoryMb: null,
        },
      ],
    };
    expect(decodeRecord(encodeRecord(record), 'x')).toEqual(record);
  });

  it('holds a full-duplex session', () => {
    const record = exampleRecord({ duplex: exampleSession({}) });
    expect(decodeRecord(encodeRecord(record), 'x')).toEqual(record);
  });

  it('of a version that knew no sessions has none', () => {
    const line = encodeRecord(exampleRecord({}));
    expect(line).not.toContain('duplex');
    expect(decodeRecord(line, 'x').duplex).toBeNull();
  });

  it('holds a failure with its proof', () => {
    const record = exampleRecord({
      outcome: { ok: false, kind: 'http', status: 500, message: 'HTTP 500', body: '{"error":1}' },
    });
    expect(decodeRecord(encodeRecord(record), 'x').outcome).toEqual(record.outcome);
  });
});

describe('a run folder', () => {
  it('gives back what was appended', async () => {
    const journal = openJournal(join(dir, 'run'), fail);
    journal.describe(exampleFacts({ endMs: null }));
    const records = [0, 1, 2].map((index) => exampleRecord({ index, text: `reply ${index}\nsecond line` }));
    for (const record of records) journal.append(record);
    journal.describe(exampleFacts({ endMs: 5000 }));
    journal.close();
    const run = await readRun(join(dir, 'run'));
    expect(run.records).toEqual(records);
    expect(run.facts.endMs).toBe(5000);
    expect(run.notes).toEqual([]);
  });

  it('can be read while it is being written', async () => {
    const journal = openJournal(dir, fail);
    journal.describe(exampleFacts({ endMs: null }));
    journal.append(exampleRecord({ index: 0 }));
    expect((await readRun(dir)).records).toHaveLength(1);
    journal.close();
  });

  property([fc.integer({ min: 1, max: 400 })], { numRuns: 25 })(
    'drops a torn last line and says so',
    async (cut) => {
      const path = mkdtempSync(join(tmpdir(), 'omnimeter-torn-'));
      const journal = openJournal(path, fail);
      journal.describe(exampleFacts({}));
      journal.append(exampleRecord({ index: 0 }));
      journal.append(exampleRecord({ index: 1 }));
      journal.close();
      const file = join(path, 'records.jsonl');
      const size = readFileSync(file).length;
      truncateSync(file, size - 1 - cut);
      const run = await readRun(path);
      expect(run.records.map((record) => record.index)).toEqual([0]);
      expect(run.notes.join()).toContain('torn');
      rmSync(path, { recursive: true });
    },
  );

  it('names a bad line in the middle and keeps the others', async () => {
    const journal = openJournal(dir, fail);
    journal.describe(exampleFacts({}));
    journal.append(exampleRecord({ index: 0 }));
    appendFileSync(join(dir, 'records.jsonl'), '{"index":"one"}\n');
    journal.append(exampleRecord({ index: 2 }));
    journal.close();
    const run = await readRun(dir);
    expect(run.records.map((record) => record.index)).toEqual([0, 2]);
    expect(run.notes).toHaveLength(1);
    expect(run.notes[0]).toContain('records.jsonl:2');
  });

  const indices = ({ records }: { records: readonly { index: number }[] }) =>
    records.map(({ index }) => index);
  const written = (facts: Parameters<typeof exampleFacts>[0], kept: readonly number[]) => {
    const journal = openJournal(dir, fail);
    journal.describe(exampleFacts({ numPrompts: 20, ...facts }));
    journal.append(exampleRecord({ index: 0, role: 'warmup' }));
    for (const index of kept) journal.append(exampleRecord({ index }));
    journal.close();
  };

  it.each([
    ['of a run that counted them', { measuredCount: 20 }, [0, 1, 7], /17 of 20 records are missing/],
    ['of all', { measuredCount: 20 }, [], /20 of 20 records are missing/],
    ['of all, of an older run', { measuredCount: null }, [], /20 of 20 records are missing/],
    ['between others, of an older run', { measuredCount: null }, [0, 1, 7], /5 of 8 records are missing/],
  ])('says how many records are missing, %s', async (_, facts, kept, warning) => {
    written(facts, kept);
    expect((await readRun(dir)).warnings).toEqual([expect.stringMatching(warning)]);
  });

  it.each([
    ['a dataset was shorter', { measuredCount: 3 }],
    ['an older run’s dataset was shorter', { measuredCount: null }],
    ['it was stopped', { interrupted: true, measuredCount: 3 }],
    ['it was cut off', { endMs: null }],
  ])('misses none where %s', async (_, facts) => {
    written(facts, [0, 1, 2]);
    expect((await readRun(dir)).warnings).toEqual([]);
  });

  it('counts a record that is there twice once', async () => {
    written({ measuredCount: 3 }, [0, 1, 2]);
    const path = join(dir, 'records.jsonl');
    appendFileSync(path, readFileSync(path));
    const run = await readRun(dir);
    expect(indices({ records: run.records.filter(({ role }) => role === 'measured') })).toEqual([0, 1, 2]);
    expect(run.warnings).toEqual([expect.stringMatching(/3 of 6 records are of requests that had one/)]);
  });

  it('refuses a folder that already holds a run', () => {
    openJournal(dir, fail).close();
    expect(() => openJournal(dir, fail)).toThrow(/already holds a run/);
  });

  it('says which folder is no run', async () => {
    await expect(readRun(join(dir, 'nothing'))).rejects.toThrow(InputFileError);
    writeFileSync(join(dir, 'run.json'), '{"format": 7}');
    await expect(readRun(dir)).rejects.toThrow(/not a run description/);
  });
});
