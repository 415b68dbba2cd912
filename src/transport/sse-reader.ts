import { isAscii } from 'node:buffer';

/** How to read a stream of server-sent events, and whom to tell. */
export type SseReaderOptions = {
  /**
   * One message: its `data` lines joined by a line feed, and its `event` field (`null` = none was given).
   * `timeMs` is the time of the read that brought the last byte of the data, not of its line end or blank line.
   */
  readonly onMessage: (data: string, timeMs: number, event: string | null) => void;
  /** A comment line without its colon; servers use them as keep-alive pings. */
  readonly onComment?: (text: string, timeMs: number) => void;
  /** Longest line, and longest `data` of one message, that is accepted, bytes. */
  readonly maxLineBytes: number;
  /** Called once when the limit is passed; everything after it is dropped. */
  readonly onLimit: (message: string) => void;
};

const lineFeed = 10;
const carriageReturn = 13;
const space = 32;
const colon = 58;
const byteOrderMark = [0xef, 0xbb, 0xbf] as const;
const noBytes = Buffer.alloc(0);
/** A line buffer above this size is given back after its line, so that one long line costs no memory for ever. */
const keptCapacityBytes = 64 * 1024;
/** From here on, looking for non-ASCII bytes first and decoding as latin1 is faster than decoding as UTF-8. */
const asciiCheckBytes = 1024;

function decode(bytes: Buffer, from: number, to: number): string {
  if (to - from < asciiCheckBytes) return bytes.toString('utf8', from, to);
  return isAscii(bytes.subarray(from, to))
    ? bytes.toString('latin1', from, to)
    : bytes.toString('utf8', from, to);
}

/** The next line feed; a native search is spared where it is the blank line behind an event, or the read ends. */
function nextFeed(bytes: Buffer, at: number): number {
  if (at === bytes.length) return -1;
  return bytes[at] === lineFeed ? at : bytes.indexOf(lineFeed, at);
}

/** Most data lines of one message: empty ones cost memory and no bytes of the limit. */
const maxDataLines = 100_000;

/** Whether the line is the field `data`; its value starts behind the fifth byte. */
function isDataField(bytes: Buffer, from: number, to: number): boolean {
  return (
    bytes[from] === 100 &&
    bytes[from + 1] === 97 &&
    bytes[from + 2] === 116 &&
    bytes[from + 3] === 97 &&
    (to - from === 4 ? true : to - from > 4 && bytes[from + 4] === colon)
  );
}

function isEventField(bytes: Buffer, from: number, to: number): boolean {
  return (
    to - from >= 5 &&
    bytes[from] === 101 &&
    bytes[from + 1] === 118 &&
    bytes[from + 2] === 101 &&
    bytes[from + 3] === 110 &&
    bytes[from + 4] === 116 &&
    (to - from === 5 || bytes[from + 5] === colon)
  );
}

/** Where the value starts behind a field name's colon: one space after it does not belong to it. */
function valueStart(bytes: Buffer, colonAt: number, to: number): number {
  if (colonAt >= to) return to;
  return colonAt + 1 < to && bytes[colonAt + 1] === space ? colonAt + 2 : colonAt + 1;
}

/**
 * Splits the bytes of a `text/event-stream` body into messages as the HTML standard says (§9.2.6), for any borders
 * of reads. It works on bytes, so that characters split across reads are decoded whole and a message that lies in
 * one read is decoded with no copy. One departure: {@link SseReader.end} emits a last message that has no blank
 * line, because servers that close right after their last line exist.
 */
export class SseReader {
  readonly #onMessage: SseReaderOptions['onMessage'];
  readonly #onComment: SseReaderOptions['onComment'];
  readonly #onLimit: SseReaderOptions['onLimit'];
  readonly #maxLineBytes: number;
  /** The line that earlier reads began. Always a copy: the transport reuses its memory. */
  #line: Buffer = noBytes;
  #lineLength = 0;
  #lineTimeMs = 0;
  /** The last line ended in a carriage return at a read's border; a line feed right after belongs to it. */
  #skipLineFeed = false;
  /** Bytes of a byte order mark seen so far; 3 = the start of the stream is over. */
  #markLength = 0;
  #data: string | null = null;
  #dataBytes = 0;
  #dataLines = 0;
  #dataTimeMs = 0;
  #event: string | null = null;
  #stopped = false;

  constructor(options: SseReaderOptions) {
    this.#onMessage = options.onMessage;
    this.#onComment = options.onComment;
    this.#onLimit = options.onLimit;
    this.#maxLineBytes = options.maxLineBytes;
  }

  /** Takes the bytes of one read; they are not kept. */
  push(bytes: Buffer, timeMs: number): void {
    const end = bytes.length;
    if (this.#stopped || end === 0) return;
    let at = this.#markLength === 3 ? 0 : this.#skipMark(bytes, timeMs);
    if (this.#skipLineFeed && at < end) {
      this.#skipLineFeed = false;
      if (bytes[at] === lineFeed) at += 1;
    }
    let feed = bytes.indexOf(lineFeed, at);
    let carriage = bytes.indexOf(carriageReturn, at);
    while (feed !== -1 || carriage !== -1) {
      let next: number;
      let lineEnd: number;
      if (carriage === -1 || (feed !== -1 && feed < carriage)) {
        lineEnd = feed;
        next = feed + 1;
      } else {
        lineEnd = carriage;
        next = carriage + 1;
        if (next === end) this.#skipLineFeed = true;
        else if (bytes[next] === lineFeed) next += 1;
      }
      if (this.#lineLength === 0) this.#takeLine(bytes, at, lineEnd, timeMs);
      else this.#completeLine(bytes, at, lineEnd, timeMs);
      if (this.#stopped) return;
      at = next;
      if (feed !== -1 && feed < at) feed = nextFeed(bytes, at);
      if (carriage !== -1 && carriage < at) carriage = bytes.indexOf(carriageReturn, at);
    }
    if (at < end) this.#keep(bytes, at, end, timeMs);
  }

  /** The body is over: a line or message that was not terminated is taken as complete. */
  end(): void {
    if (this.#stopped) return;
    if (this.#markLength < 3) this.#restoreMark(this.#lineTimeMs);
    if (this.#lineLength > 0) this.#completeLine(noBytes, 0, 0, 0);
    if (!this.#stopped) this.#dispatch();
    this.#stopped = true;
    this.#line = noBytes;
  }

  /** Skips a byte order mark at the start of the stream, which may itself be split across reads. */
  #skipMark(bytes: Buffer, timeMs: number): number {
    let at = 0;
    while (this.#markLength < 3 && at < bytes.length) {
      if (bytes[at] !== byteOrderMark[this.#markLength]) {
        this.#restoreMark(timeMs);
        return at;
      }
      at += 1;
      this.#markLength += 1;
    }
    this.#lineTimeMs = timeMs;
    return at;
  }

  /** What looked like a byte order mark was the start of a line. */
  #restoreMark(timeMs: number): void {
    const held = this.#markLength;
    this.#markLength = 3;
    if (held > 0) this.#keep(Buffer.from(byteOrderMark), 0, held, timeMs);
  }

  #keep(bytes: Buffer, from: number, to: number, timeMs: number): void {
    const length = this.#lineLength + to - from;
    if (length > this.#maxLineBytes) {
      this.#stop('line');
      return;
    }
    if (length > this.#line.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(512, length, this.#line.length * 2));
      this.#line.copy(grown, 0, 0, this.#lineLength);
      this.#line = grown;
    }
    bytes.copy(this.#line, this.#lineLength, from, to);
    this.#lineLength = length;
    this.#lineTimeMs = timeMs;
  }

  #completeLine(bytes: Buffer, from: number, to: number, timeMs: number): void {
    if (to > from) this.#keep(bytes, from, to, timeMs);
    if (this.#stopped) return;
    const length = this.#lineLength;
    this.#lineLength = 0;
    const line = this.#line;
    if (line.length > keptCapacityBytes) this.#line = noBytes;
    this.#takeLine(line, 0, length, this.#lineTimeMs);
  }

  #takeLine(bytes: Buffer, from: number, to: number, timeMs: number): void {
    if (from === to) {
      this.#dispatch();
      return;
    }
    if (to - from > this.#maxLineBytes) {
      this.#stop('line');
      return;
    }
    if (isDataField(bytes, from, to)) {
      this.#takeData(bytes, valueStart(bytes, from + 4, to), to, timeMs);
    } else if (bytes[from] === colon) {
      this.#onComment?.(decode(bytes, from + 1, to), timeMs);
    } else if (isEventField(bytes, from, to)) {
      const value = decode(bytes, valueStart(bytes, from + 5, to), to);
      this.#event = value === '' ? null : value;
    }
  }

  #takeData(bytes: Buffer, from: number, to: number, timeMs: number): void {
    this.#dataTimeMs = timeMs;
    this.#dataBytes += to - from + 1;
    this.#dataLines += 1;
    if (this.#dataBytes - 1 > this.#maxLineBytes || this.#dataLines > maxDataLines) {
      this.#stop('message');
      return;
    }
    const text = decode(bytes, from, to);
    this.#data = this.#data === null ? text : `${this.#data}\n${text}`;
  }

  #dispatch(): void {
    const data = this.#data;
    const event = this.#event;
    this.#event = null;
    if (data === null) return;
    this.#data = null;
    this.#dataBytes = 0;
    this.#dataLines = 0;
    this.#onMessage(data, this.#dataTimeMs, event);
  }

  #stop(what: 'line' | 'message'): void {
    this.#stopped = true;
    this.#line = noBytes;
    this.#lineLength = 0;
    this.#data = null;
    this.#onLimit(`the event stream holds a ${what} of more than ${this.#maxLineBytes} bytes`);
  }
}
