import { z } from 'zod';
import { InputFileError } from '../foundation/errors.ts';
import { duplexSessionSchema } from './duplex-session-schema.ts';
import type { EventLog } from './event-log.ts';
import { columnNames, emptyEventLog, readEvents } from './read-events.ts';
import type { RequestRecord } from './request-record.ts';

/** A column on disk: a list, or one number where all entries are equal. */
type JsonColumn = number | number[];

const ms = z.number();
const msOrNull = z.number().nullable();
const count = z.number().int().nonnegative();
const exchangeSchema = z.strictObject({
  method: z.string(),
  url: z.string(),
  sendMs: ms,
  connectedMs: msOrNull,
  connectionReused: z.boolean(),
  headersMs: msOrNull,
  endMs: msOrNull,
  status: z.number().nullable(),
  requestBytes: count,
  responseBytes: count,
});
const responseSchema = z.strictObject({
  id: z.string().nullable(),
  finishReason: z.string().nullable(),
  usage: z.record(z.string(), z.unknown()).nullable(),
  stages: z.record(z.string(), z.record(z.string(), z.unknown())),
  stageDurations: z.record(z.string(), z.number()),
  peakMemoryMb: z.number().nullable(),
});
const outcomeSchema = z.discriminatedUnion('ok', [
  z.strictObject({ ok: z.literal(true) }),
  z.strictObject({
    ok: z.literal(false),
    kind: z.enum([
      'http',
      'stream_error',
      'timeout',
      'connect',
      'reset',
      'empty',
      'malformed',
      'content_type',
      'limit',
      'aborted',
      'job_failed',
      'unsendable',
    ]),
    status: z.number().nullable(),
    message: z.string(),
    body: z.string().nullable(),
  }),
]);
const recordSchema = z.strictObject({
  index: count,
  role: z.enum(['measured', 'warmup', 'probe', 'readiness']),
  requestId: z.string().nullable(),
  endpoint: z.string(),
  model: z.string(),
  intendedMs: msOrNull,
  admittedMs: msOrNull,
  attempts: z.array(
    z.strictObject({
      sendMs: ms,
      endMs: ms,
      exchanges: z.array(exchangeSchema),
      error: z.string().nullable(),
    }),
  ),
  responses: z.array(responseSchema),
  text: z.string(),
  plannedPromptTokens: count.nullable(),
  promptTokens: count.nullable(),
  expectedOutputTokens: count.nullable(),
  outputTokens: count.nullable(),
  outputTokensSource: z.enum(['usage', 'stage', 'tokenizer']).nullable(),
  audio: z
    .strictObject({
      format: z.string(),
      sampleRateHz: z.number().nullable(),
      channels: z.number().nullable(),
      sampleBytes: z.number().nullable(),
      frames: z.number().nullable(),
      durationS: z.number().nullable(),
      bytes: z.number(),
      droppedChunks: count,
      note: z.string().nullable(),
    })
    .nullable(),
  image: z
    .strictObject({
      count,
      pixels: z.number().nullable(),
      sizedCount: count,
      broken: count,
      generationMs: z.number().nullable(),
      denoiseStepMs: z.number().nullable(),
    })
    .nullable(),
  video: z
    .strictObject({
      durationS: z.number().nullable(),
      frames: z.number().nullable(),
      generationMs: z.number().nullable(),
    })
    .nullable(),
  inputAudioDurationS: z.number().nullable(),
  // Absent in records of other endpoints, and in those of versions that knew no sessions.
  duplex: duplexSessionSchema.nullable().default(null),
  outcome: outcomeSchema,
  kept: z.literal(true).exactOptional(),
});

function encodeColumn(column: ArrayLike<number>): JsonColumn {
  const first = column[0];
  if (first === undefined) return [];
  for (let i = 1; i < column.length; i += 1) if (column[i] !== first) return Array.from(column);
  return first;
}

/** One line of `records.jsonl`, without the newline. */
export function encodeRecord(record: RequestRecord): string {
  const { events, duplex, ...rest } = record;
  const columns: Record<string, JsonColumn> = {};
  for (const name of columnNames) columns[name] = encodeColumn(events[name]);
  return JSON.stringify({
    ...rest,
    ...(duplex === null ? {} : { duplex }),
    events: { n: events.timesMs.length, ...columns },
  });
}

function decodeEvents(source: unknown): EventLog {
  if (!isObject(source)) throw new TypeError('events is not an object');
  const n = count.parse(source.n);
  const events = emptyEventLog(n);
  for (const name of columnNames) fillColumn(events[name], source[name], name);
  return events;
}

function fillColumn(target: EventLog[keyof EventLog], stored: unknown, name: string): void {
  if (typeof stored === 'number') {
    target.fill(stored);
    return;
  }
  if (!Array.isArray(stored) || stored.length !== target.length)
    throw new TypeError(`events.${name} does not have ${target.length} numbers`);
  for (let i = 0; i < stored.length; i += 1)
    if (typeof stored[i] !== 'number') throw new TypeError(`events.${name}[${i}] is not a number`);
  target.set(stored);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const eventsField = '"events":';
/** Quotes within texts are escaped, so that this stands before an object of this name and nowhere else. */
const eventsStart = `,${eventsField}{"n":`;

/** A line whose events stand last, as a journal writes it; `null` = any other, of which JSON says what it is. */
function splitLine(bytes: Buffer): { readonly rest: unknown; readonly events: EventLog } | null {
  const at = bytes.lastIndexOf(eventsStart);
  if (at < 0) return null;
  const events = readEvents(bytes, at + 1 + eventsField.length);
  return events === null ? null : { rest: JSON.parse(`${bytes.toString('utf8', 0, at)}}`), events };
}

/**
 * Reads one line of `records.jsonl`.
 * @param where file and line, for the message
 * @throws InputFileError when the line is not a record
 */
export function decodeRecord(line: string | Buffer, where: string): RequestRecord {
  try {
    const bytes = typeof line === 'string' ? Buffer.from(line) : line;
    const split = splitLine(bytes);
    if (split !== null) return { ...recordSchema.parse(split.rest), events: split.events };
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    if (!isObject(value)) throw new TypeError('it is not an object');
    const { events, ...rest } = value;
    return { ...recordSchema.parse(rest), events: decodeEvents(events) };
  } catch (cause) {
    const reason = cause instanceof z.ZodError ? z.prettifyError(cause).replaceAll('\n', ' ') : String(cause);
    throw new InputFileError(`${where}: not a request record (${reason}). The line was left out.`, { cause });
  }
}
