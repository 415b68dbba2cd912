import { journalMs } from './journal-ms.ts';

/** What a message of a streamed reply carried. The numbers are the journal's format: append, never renumber. */
export const eventKinds = {
  /** Generated text. */
  text: 0,
  /** Reasoning text (`reasoning_content`, `reasoning`). */
  reasoning: 1,
  /** A tool-call delta. */
  tool: 2,
  /** A refusal delta. */
  refusal: 3,
  /** Audio with at least one byte of payload. */
  audio: 4,
  /** One or more images. */
  image: 5,
  /** A choice without content: role only, finish reason only, an empty audio segment. */
  empty: 6,
  /** Usage or metrics without a choice. */
  usage: 7,
  /** Any other message that parsed. */
  other: 8,
  /** A complete reply that was not streamed: it ends the latency and says nothing of first tokens or gaps. */
  whole: 9,
} as const;
export type EventKind = (typeof eventKinds)[keyof typeof eventKinds];

/**
 * Columns of one request's messages in order of arrival; all have the same length.
 * Messages that one network read completed share that read's time.
 */
export type EventLog = {
  /** Time of the read that completed the message, ms on the run's clock. */
  readonly timesMs: Float64Array;
  readonly kinds: Uint8Array;
  /** Tokens the message brought; −1 = not known. See rulings in docs/metrics on how they are counted. */
  readonly tokens: Int32Array;
  /** Payload bytes: UTF-8 text, decoded audio, decoded images. */
  readonly bytes: Float64Array;
  /** Audio samples per channel in the message; −1 = no audio or not known. */
  readonly frames: Int32Array;
  /** Index into the record's `responses`. */
  readonly responses: Uint16Array;
};

/** One event, as builders take it. */
export type EventRow = {
  timeMs: number;
  kind: EventKind;
  tokens: number | null;
  bytes: number;
  frames: number | null;
  response: number;
};

/** Numbers of one event in a builder, in the order of {@link EventLogBuilder.append}. */
const rowLength = 6;
const firstRows = 32;

/**
 * Gathers the events of an {@link EventLog}; nothing but appending happens on the hot path. Events are kept row by row
 * and become columns at the end: with hundreds of streams open, six columns each are six cache misses an event.
 */
export class EventLogBuilder {
  #length = 0;
  #rows = new Float64Array(firstRows * rowLength);

  get length(): number {
    return this.#length;
  }

  append(
    timeMs: number,
    kind: EventKind,
    tokens: number | null,
    bytes: number,
    frames: number | null,
    response: number,
  ): void {
    const at = this.#length * rowLength;
    if (at === this.#rows.length) this.#grow();
    const rows = this.#rows;
    rows[at] = timeMs;
    rows[at + 1] = kind;
    rows[at + 2] = tokens ?? -1;
    rows[at + 3] = bytes;
    rows[at + 4] = frames ?? -1;
    rows[at + 5] = response;
    this.#length += 1;
  }

  /** Forgets all events; a retried attempt starts anew. */
  clear(): void {
    this.#length = 0;
  }

  /**
   * The log, its times rounded to the journal's resolution. Its columns share one buffer of their own: one allocation
   * a request, and one transfer from thread to thread.
   */
  build(): EventLog {
    const n = this.#length;
    const buffer = new ArrayBuffer(n * (8 + 8 + 4 + 4 + 2 + 1));
    const log: EventLog = {
      timesMs: new Float64Array(buffer, 0, n),
      bytes: new Float64Array(buffer, n * 8, n),
      tokens: new Int32Array(buffer, n * 16, n),
      frames: new Int32Array(buffer, n * 20, n),
      responses: new Uint16Array(buffer, n * 24, n),
      kinds: new Uint8Array(buffer, n * 26, n),
    };
    const rows = this.#rows;
    for (let i = 0, at = 0; i < n; i += 1, at += rowLength) {
      log.timesMs[i] = journalMs(rows[at] as number);
      log.kinds[i] = rows[at + 1] as number;
      log.tokens[i] = rows[at + 2] as number;
      log.bytes[i] = rows[at + 3] as number;
      log.frames[i] = rows[at + 4] as number;
      log.responses[i] = rows[at + 5] as number;
    }
    return log;
  }

  #grow(): void {
    const grown = new Float64Array(this.#rows.length * 2);
    grown.set(this.#rows);
    this.#rows = grown;
  }
}

/** An event log of given rows, for fitted records and tests. */
export function eventLogOf(rows: readonly Partial<EventRow>[]): EventLog {
  const builder = new EventLogBuilder();
  for (const row of rows) {
    builder.append(
      row.timeMs ?? 0,
      row.kind ?? eventKinds.text,
      row.tokens ?? null,
      row.bytes ?? 0,
      row.frames ?? null,
      row.response ?? 0,
    );
  }
  return builder.build();
}
