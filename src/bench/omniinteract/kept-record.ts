import { z } from 'zod';
import { decodeRecord, encodeRecord } from '../../records/record-json.ts';
import type { RequestRecord } from '../../records/request-record.ts';

/** Beside a finished case until its run has ended: what was measured, for a run that goes on after this one. */
export const keptRecordFile = '.record.json';

/** One process's share of a run that was cut off. */
export type RunPart = {
  readonly id: string;
  /** When it began, by the wall clock: parts stand in this order. */
  readonly startedAtEpochMs: number;
  /** When it began, ms on the clock of its records. */
  readonly startMs: number;
};

/** A measured request and the part in which it was measured. */
export type KeptRecord = { readonly part: RunPart; readonly record: RequestRecord };

const schema = z.strictObject({
  format: z.literal(1),
  part: z.strictObject({ id: z.string(), startedAtEpochMs: z.number(), startMs: z.number() }),
  record: z.string(),
});

export function keptRecordText({ part, record }: KeptRecord): string {
  const { kept: _kept, ...measured } = record;
  return `${JSON.stringify({ format: 1, part, record: encodeRecord(measured) })}\n`;
}

/** @throws InputFileError, ZodError or SyntaxError where the text is none of ours */
export function parseKeptRecord(text: string, path: string): KeptRecord {
  const { part, record } = schema.parse(JSON.parse(text));
  return { part, record: decodeRecord(record, path) };
}

/** Kept records on the clock of the run that goes on, and how long the parts before it took. */
export type RebasedRecords = { readonly records: readonly RequestRecord[]; readonly lengthMs: number };

/**
 * Lays the parts of a run one after the other, the last of them ending where the run that goes on begins. Each part is
 * as long as its kept requests go; what was under way when it was cut off is measured anew, and its time left out.
 * @param startMs start of the run that goes on
 */
export function rebased(kept: readonly KeptRecord[], startMs: number): RebasedRecords {
  const parts = new Map<string, { readonly part: RunPart; endMs: number }>();
  for (const { part, record } of kept) {
    const known = parts.get(part.id) ?? { part, endMs: part.startMs };
    known.endMs = Math.max(known.endMs, record.attempts.at(-1)?.endMs ?? part.startMs);
    parts.set(part.id, known);
  }
  const offsets = new Map<string, number>();
  let boundaryMs = startMs;
  const latestFirst = [...parts.values()].sort((a, b) => b.part.startedAtEpochMs - a.part.startedAtEpochMs);
  for (const { part, endMs } of latestFirst) {
    offsets.set(part.id, boundaryMs - endMs);
    boundaryMs -= endMs - part.startMs;
  }
  return {
    records: kept.map(({ part, record }) => shifted(record, offsets.get(part.id) ?? 0)),
    lengthMs: startMs - boundaryMs,
  };
}

/** The same record with all its times moved, marked as kept. */
function shifted(record: RequestRecord, offsetMs: number): RequestRecord {
  const move = (ms: number): number => ms + offsetMs;
  const moveOrNull = (ms: number | null): number | null => (ms === null ? null : move(ms));
  const { events, duplex } = record;
  return {
    ...record,
    intendedMs: moveOrNull(record.intendedMs),
    admittedMs: moveOrNull(record.admittedMs),
    attempts: record.attempts.map((attempt) => ({
      ...attempt,
      sendMs: move(attempt.sendMs),
      endMs: move(attempt.endMs),
      exchanges: attempt.exchanges.map((exchange) => ({
        ...exchange,
        sendMs: move(exchange.sendMs),
        connectedMs: moveOrNull(exchange.connectedMs),
        headersMs: moveOrNull(exchange.headersMs),
        endMs: moveOrNull(exchange.endMs),
      })),
    })),
    events: { ...events, timesMs: events.timesMs.map(move) },
    duplex: duplex && { ...duplex, streamStartMs: moveOrNull(duplex.streamStartMs) },
    kept: true,
  };
}
