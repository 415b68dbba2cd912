import { expect, it } from 'vitest';
import { attemptOf, requestOf } from '../../metrics/metric-records.suite.ts';
import { eventKinds } from '../../records/event-log.ts';
import { exampleSession } from '../../records/examples.suite.ts';
import { keptRecordText, parseKeptRecord, type RunPart, rebased } from './kept-record.ts';

const part = (id: string, startedAtEpochMs: number, startMs: number): RunPart => ({
  id,
  startedAtEpochMs,
  startMs,
});

/** A request of a part's clock. */
const record = (index: number, startMs: number, endMs: number) =>
  requestOf(
    { events: [{ timeMs: startMs + 1, kind: eventKinds.audio }] },
    {
      index,
      intendedMs: startMs - 1,
      admittedMs: startMs,
      attempts: [attemptOf(startMs, endMs)],
      duplex: exampleSession({ streamStartMs: startMs + 2 }),
    },
  );

it('lays the parts one after the other, up to the run that goes on', () => {
  const first = part('a', 1000, 5000);
  const second = part('b', 2000, 100);
  const { records, lengthMs } = rebased(
    [
      { part: second, record: record(2, 150, 400) },
      { part: first, record: record(0, 5000, 5500) },
      { part: first, record: record(1, 5500, 6200) },
    ],
    10_000,
  );
  // The first took 1200 ms, the second 300; they end at 10 000.
  expect(lengthMs).toBe(1500);
  expect(records.map(({ index, attempts }) => [index, attempts[0]?.sendMs, attempts[0]?.endMs])).toEqual([
    [2, 9750, 10_000],
    [0, 8500, 9000],
    [1, 9000, 9700],
  ]);
  const [moved] = records;
  expect(moved).toMatchObject({
    kept: true,
    intendedMs: 9749,
    admittedMs: 9750,
    duplex: { streamStartMs: 9752 },
    attempts: [{ exchanges: [{ sendMs: 9750, connectedMs: 9750, headersMs: 10_000, endMs: 10_000 }] }],
  });
  expect([...(moved?.events.timesMs ?? [])]).toEqual([9751]);
});

it('has no length where nothing was kept', () => {
  expect(rebased([], 77)).toEqual({ records: [], lengthMs: 0 });
});

it('is the same after the disk, without its mark', () => {
  const kept = { part: part('a', 1, 2), record: record(3, 10, 20) };
  expect(parseKeptRecord(keptRecordText({ ...kept, record: { ...kept.record, kept: true } }), 'x')).toEqual(
    kept,
  );
  expect(() => parseKeptRecord('{"format":2}', 'x')).toThrow();
});
