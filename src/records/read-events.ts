import type { EventLog } from './event-log.ts';

/** The columns in the order in which a line has them. */
export const columnNames = ['timesMs', 'kinds', 'tokens', 'bytes', 'frames', 'responses'] as const;

/** Columns for so many events, all in one buffer, as the builder makes them: large runs have as many buffers. */
export function emptyEventLog(n: number): EventLog {
  const buffer = new ArrayBuffer(n * (8 + 8 + 4 + 4 + 2 + 1));
  return {
    timesMs: new Float64Array(buffer, 0, n),
    bytes: new Float64Array(buffer, n * 8, n),
    tokens: new Int32Array(buffer, n * 16, n),
    frames: new Int32Array(buffer, n * 20, n),
    responses: new Uint16Array(buffer, n * 24, n),
    kinds: new Uint8Array(buffer, n * 26, n),
  };
}

/** A number of so many digits is a whole one that a double holds exactly, over a power of ten that it holds too. */
const mostExactDigits = 15;
const powersOfTen = Float64Array.from({ length: mostExactDigits + 1 }, (_, i) => 10 ** i);

const minus = 0x2d;
const dot = 0x2e;
const zero = 0x30;
const nine = 0x39;
const comma = 0x2c;
const open = 0x5b;
const close = 0x5d;

/** Walks over the bytes of a line; `at` is −1 once they are not what was expected. */
class Reader {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  get failed(): boolean {
    return this.#at < 0;
  }

  /** Steps over a text that must stand here. */
  expect(text: string): void {
    if (this.#at < 0) return;
    for (let i = 0; i < text.length; i += 1) {
      if (this.#bytes[this.#at + i] !== text.charCodeAt(i)) {
        this.#at = -1;
        return;
      }
    }
    this.#at += text.length;
  }

  atEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** One number, or as many as the column is long. */
  column(target: EventLog[keyof EventLog]): void {
    if (this.#at < 0) return;
    if (this.#bytes[this.#at] !== open) {
      target.fill(this.number());
      return;
    }
    this.#at += 1;
    for (let i = 0; i < target.length && this.#at >= 0; i += 1) {
      target[i] = this.number();
      if (this.#at >= 0 && this.#bytes[this.#at] === (i === target.length - 1 ? close : comma)) this.#at += 1;
      else this.#at = -1;
    }
    if (target.length === 0) this.expect(']');
  }

  /** The double that is nearest to the decimal here, as JSON has it. */
  number(): number {
    const bytes = this.#bytes;
    const start = this.#at;
    let at = start;
    const negative = bytes[at] === minus;
    if (negative) at += 1;
    let whole = 0;
    let digits = 0;
    let point = -1;
    for (let code = bytes[at]; code !== undefined; code = bytes[at]) {
      if (code >= zero && code <= nine) {
        whole = whole * 10 + (code - zero);
        digits += 1;
      } else if (code === dot && point < 0) point = at;
      else break;
      at += 1;
    }
    const next = bytes[at];
    if (digits === 0 || digits > mostExactDigits || next === 0x65 || next === 0x45 || point === at - 1)
      return this.#anyNumber(start);
    this.#at = at;
    const value = point < 0 ? whole : whole / (powersOfTen[at - point - 1] ?? 1);
    return negative ? -value : value;
  }

  /** A number of another form, such as `1e-7`, or none. */
  #anyNumber(start: number): number {
    let end = start;
    for (let code = this.#bytes[end]; code !== undefined; code = this.#bytes[end]) {
      if (code === comma || code === close || code === 0x7d) break;
      end += 1;
    }
    const text = this.#bytes.toString('latin1', start, end);
    const isNumber = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text);
    this.#at = isNumber ? end : -1;
    return isNumber ? Number(text) : 0;
  }
}

/**
 * Reads the events of a line from its bytes, without making a list of each column first: of ten million events that is
 * most of the work of reading a run.
 * @param at where the events' object begins
 * @returns `null` where the bytes up to the line's end are not exactly what a journal writes
 */
export function readEvents(bytes: Buffer, at: number): EventLog | null {
  const reader = new Reader(bytes, at);
  reader.expect('{"n":');
  const n = reader.failed ? -1 : reader.number();
  // A list has a byte for each comma, and a length that a damaged line claims must not fill the memory.
  if (reader.failed || !Number.isInteger(n) || n < 0 || n > bytes.length) return null;
  const events = emptyEventLog(n);
  for (const name of columnNames) {
    reader.expect(`,"${name}":`);
    reader.column(events[name]);
  }
  reader.expect('}}');
  return reader.atEnd() ? events : null;
}
