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

/** Grows the columns of an {@link EventLog}; nothing but appending happens on the hot path. */
export class EventLogBuilder {
  #length = 0;
  #timesMs = new Float64Array(64);
  #kinds = new Uint8Array(64);
  #tokens = new Int32Array(64);
  #bytes = new Float64Array(64);
  #frames = new Int32Array(64);
  #responses = new Uint16Array(64);

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
    const at = this.#length;
    if (at === this.#timesMs.length) this.#resize(at * 2);
    this.#timesMs[at] = timeMs;
    this.#kinds[at] = kind;
    this.#tokens[at] = tokens ?? -1;
    this.#bytes[at] = bytes;
    this.#frames[at] = frames ?? -1;
    this.#responses[at] = response;
    this.#length = at + 1;
  }

  /** Forgets all events; a retried attempt starts anew. */
  clear(): void {
    this.#length = 0;
  }

  /**
   * The log, cut to its length. Its columns share one buffer of their own: one allocation a request, and one transfer
   * from thread to thread.
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
    log.timesMs.set(this.#timesMs.subarray(0, n));
    log.bytes.set(this.#bytes.subarray(0, n));
    log.tokens.set(this.#tokens.subarray(0, n));
    log.frames.set(this.#frames.subarray(0, n));
    log.responses.set(this.#responses.subarray(0, n));
    log.kinds.set(this.#kinds.subarray(0, n));
    return log;
  }

  #resize(capacity: number): void {
    const grow = <T extends Float64Array | Int32Array | Uint8Array | Uint16Array>(column: T, next: T): T => {
      next.set(column);
      return next;
    };
    this.#timesMs = grow(this.#timesMs, new Float64Array(capacity));
    this.#kinds = grow(this.#kinds, new Uint8Array(capacity));
    this.#tokens = grow(this.#tokens, new Int32Array(capacity));
    this.#bytes = grow(this.#bytes, new Float64Array(capacity));
    this.#frames = grow(this.#frames, new Int32Array(capacity));
    this.#responses = grow(this.#responses, new Uint16Array(capacity));
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
