import { randomStream, shuffled } from '../../foundation/random.ts';
import { audioTimingOf } from '../../metrics/audio-timing.ts';
import { latencyEndMsOf, startMsOf } from '../../metrics/latency.ts';
import { firstAudioMs, firstTextMs } from '../../metrics/stage-timing.ts';
import type { RequestRecord } from '../../records/request-record.ts';
import type { RunFacts } from '../../records/run-facts.ts';
import type { RowReason } from './report-model.ts';

export type ChosenRow = {
  readonly record: RequestRecord;
  readonly reason: RowReason;
  /** The page shows it from close up. */
  readonly detailed: boolean;
};

/** A run of up to this many requests is shown whole. */
const wholeRun = 1500;
const counts = { slowest: 300, slowestStart: 60, worstPlayback: 40, failed: 300, sample: 800 };
const details = { slow: 90, failed: 40, sample: 120 };

/**
 * The requests that a page has room for: all, or the slowest, the failed and a random sample of the others. The same
 * run always gives the same choice.
 * @param measured in order of their index
 */
export function chooseRows(measured: readonly RequestRecord[], run: RunFacts): ChosenRow[] {
  const rows = measured.length <= wholeRun ? everyRow(measured) : someRows(measured, run);
  return withDetails(rows, run).sort((a, b) => a.record.index - b.record.index);
}

type Row = Omit<ChosenRow, 'detailed'>;

function everyRow(measured: readonly RequestRecord[]): Row[] {
  return measured.map((record) => ({ record, reason: 'all' }));
}

function someRows(measured: readonly RequestRecord[], run: RunFacts): Row[] {
  const chosen = new Map<RequestRecord, RowReason>();
  const add = (records: readonly RequestRecord[], reason: RowReason): void => {
    for (const record of records) if (!chosen.has(record)) chosen.set(record, reason);
  };
  const random = randomStream(run.seed, 'report-rows');
  const failed = measured.filter(({ outcome }) => !outcome.ok);
  add(failed.length <= counts.failed ? failed : shuffled(random, failed).slice(0, counts.failed), 'failed');
  const succeeded = measured.filter(({ outcome }) => outcome.ok);
  for (const record of slowestOf(succeeded, run)) add([record], 'slow');
  const others = shuffled(
    random,
    succeeded.filter((record) => !chosen.has(record)),
  );
  add(others.slice(0, counts.sample), 'sample');
  return [...chosen].map(([record, reason]) => ({ record, reason }));
}

/** By latency, by the wait for the first output, and by how far the audio lagged. */
function slowestOf(succeeded: readonly RequestRecord[], run: RunFacts): RequestRecord[] {
  return [
    ...topBy(succeeded, counts.slowest, (record) => latencyMsOf(record, run)),
    ...topBy(succeeded, counts.slowestStart, firstOutputMsOf),
    ...topBy(succeeded, counts.worstPlayback, underrunOf),
  ];
}

function latencyMsOf(record: RequestRecord, run: RunFacts): number {
  const startMs = startMsOf(record);
  const endMs = latencyEndMsOf(record, run.endpoint.latencyEnd);
  return startMs === null || endMs === null ? 0 : endMs - startMs;
}

function firstOutputMsOf(record: RequestRecord): number {
  const startMs = startMsOf(record);
  const firstMs = firstAudioMs(record.events) ?? firstTextMs(record.events);
  return startMs === null || firstMs === null ? 0 : firstMs - startMs;
}

function underrunOf({ events, audio }: RequestRecord): number {
  return audio === null ? 0 : (audioTimingOf(events, audio)?.continuity?.underrunS ?? 0);
}

/** Those with the greatest scores above 0, the greatest first. */
function topBy(
  records: readonly RequestRecord[],
  count: number,
  score: (record: RequestRecord) => number,
): RequestRecord[] {
  const scores = Float64Array.from(records, score);
  const least = scores.toSorted()[Math.max(scores.length - count, 0)] ?? 0;
  return records
    .flatMap((record, i) => {
      const own = scores[i] ?? 0;
      return own > 0 && own >= least ? [{ record, own }] : [];
    })
    .sort((a, b) => b.own - a.own || a.record.index - b.record.index)
    .slice(0, count)
    .map(({ record }) => record);
}

function withDetails(rows: readonly Row[], run: RunFacts): ChosenRow[] {
  if (rows.length <= details.slow + details.failed + details.sample)
    return rows.map((row) => ({ ...row, detailed: true }));
  const records = rows.map(({ record }) => record);
  const succeeded = records.filter(({ outcome }) => outcome.ok);
  const random = randomStream(run.seed, 'report-details');
  const slow = slowestOf(succeeded, run);
  const detailed = new Set<RequestRecord>([
    ...slow.slice(0, details.slow - 30),
    ...topBy(succeeded, 15, firstOutputMsOf),
    ...topBy(succeeded, 15, underrunOf),
    ...records.filter(({ outcome }) => !outcome.ok).slice(0, details.failed),
    ...shuffled(random, succeeded).slice(0, details.sample),
  ]);
  return rows.map((row) => ({ ...row, detailed: detailed.has(row.record) }));
}
