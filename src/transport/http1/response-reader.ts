import { maxHeadBytes } from '../reply-rules.ts';
import type { BodyFraming, ResponseHead } from './head-lines.ts';
import { bodyFraming, excerpt, HeadBuilder, MalformedReply } from './head-lines.ts';

/** Who is told of a reply's parts. A callback may call {@link ResponseReader.stop}. */
export type ResponseSink = {
  onHead(head: ResponseHead, timeMs: number): void;
  /** Body bytes [from, to) after transfer decoding, never empty; valid during the call only. */
  onBody(bytes: Buffer, from: number, to: number, timeMs: number): void;
};

/** Why a reply cannot be read on. */
export type ReplyProblem = { readonly kind: 'malformed' | 'limit' | 'reset'; readonly message: string };

const State = {
  /** No reply is expected, or it was stopped. */
  idle: 0,
  head: 1,
  lengthBody: 2,
  closeBody: 3,
  chunkSize: 4,
  chunkExtension: 5,
  chunkSizeFeed: 6,
  chunkData: 7,
  chunkDataEnd: 8,
  chunkDataFeed: 9,
  trailer: 10,
  complete: 11,
  failed: 12,
} as const;
type State = (typeof State)[keyof typeof State];

const lineFeed = 10;
const carriageReturn = 13;
const semicolon = 59;
const space = 32;
const tab = 9;
const noBytes = Buffer.alloc(0);
/** 2^53 has 14 hexadecimal digits. */
const maxSizeDigits = 13;
/** Far above what any server sends as chunk extensions. */
const maxExtensionBytes = 4096;
const protocolName = Buffer.from('HTTP/', 'latin1');

/** Value of a hexadecimal digit by its character code; −1 = none. */
const hexValues = new Int8Array(256).fill(-1);
for (let digit = 0; digit < 16; digit += 1) {
  hexValues[digit.toString(16).charCodeAt(0)] = digit;
  hexValues[digit.toString(16).toUpperCase().charCodeAt(0)] = digit;
}

/** Index of the next line feed before `end`, else `end`; the memory behind `end` holds bytes of other connections. */
function feedIndex(bytes: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && bytes[at] !== lineFeed) at += 1;
  return at;
}

/**
 * Reads HTTP/1 replies from the reads of a connection, whatever their borders (RFC 9112). A line may end in a line
 * feed alone. Interim replies (1xx) are skipped; trailers are read and dropped.
 */
export class ResponseReader {
  readonly #sink: ResponseSink;
  #state: State = State.idle;
  #method = 'GET';
  #builder = new HeadBuilder();
  /** Start of a head or trailer line from earlier reads. */
  #line: Buffer = noBytes;
  /** Bytes of head and trailer so far. */
  #headBytes = 0;
  /** Bytes left of the body or chunk; while a chunk size is read, its value so far. */
  #left = 0;
  #sizeDigits = 0;
  #extensionBytes = 0;
  #problem: ReplyProblem | null = null;

  constructor(sink: ResponseSink) {
    this.#sink = sink;
  }

  /** Expects the reply to a request that is about to be written. */
  begin(method: string): void {
    this.#state = State.head;
    this.#method = method;
    this.#builder = new HeadBuilder();
    this.#line = noBytes;
    this.#headBytes = 0;
    this.#problem = null;
  }

  /** Reads nothing any more. */
  stop(): void {
    this.#state = State.idle;
  }

  /** Whether more bytes of the reply are expected. */
  get reading(): boolean {
    return this.#state !== State.idle && this.#state < State.complete;
  }

  get complete(): boolean {
    return this.#state === State.complete;
  }

  get problem(): ReplyProblem | null {
    return this.#problem;
  }

  /**
   * Takes bytes [from, end) of one read.
   * @returns where the reply's bytes end: before `end` once it is complete, has failed or was stopped
   */
  read(bytes: Buffer, from: number, end: number, timeMs: number): number {
    let at = from;
    while (at < end) {
      switch (this.#state) {
        case State.chunkSize:
          at = this.#readChunkSize(bytes, at, end);
          break;
        case State.chunkData: {
          const to = Math.min(end, at + this.#left);
          const from = at;
          this.#left -= to - at;
          if (this.#left === 0) this.#state = State.chunkDataEnd;
          at = to;
          this.#sink.onBody(bytes, from, to, timeMs);
          break;
        }
        case State.chunkDataEnd:
          at = this.#endChunkData(bytes, at);
          break;
        case State.chunkDataFeed:
          at = this.#expectFeed(bytes, at, State.chunkSize);
          break;
        case State.chunkExtension:
          at = this.#skipExtension(bytes, at, end);
          break;
        case State.chunkSizeFeed:
          at = this.#expectFeed(bytes, at, this.#left === 0 ? State.trailer : State.chunkData);
          break;
        case State.lengthBody: {
          const to = Math.min(end, at + this.#left);
          const from = at;
          this.#left -= to - at;
          if (this.#left === 0) this.#state = State.complete;
          at = to;
          this.#sink.onBody(bytes, from, to, timeMs);
          break;
        }
        case State.closeBody:
          this.#sink.onBody(bytes, at, end, timeMs);
          return end;
        case State.head:
        case State.trailer:
          at = this.#readLine(bytes, at, end, timeMs);
          break;
        default:
          return at;
      }
    }
    return at;
  }

  /** The connection has ended: completes a body that lasts until then, else the reply is a problem. */
  finish(): void {
    if (this.#state === State.closeBody) this.#state = State.complete;
    if (!this.reading) return;
    if (this.#state === State.head) {
      this.#fail(
        'reset',
        `the connection closed ${this.#headBytes === 0 ? 'before' : 'inside'} the reply's headers`,
      );
    } else if (this.#state === State.lengthBody) {
      this.#fail('reset', `the connection closed ${this.#left} bytes before the end of the reply's body`);
    } else {
      this.#fail('reset', "the connection closed before the reply's last chunk");
    }
  }

  #fail(kind: ReplyProblem['kind'], message: string): void {
    this.#state = State.failed;
    this.#problem = { kind, message };
  }

  #readChunkSize(bytes: Buffer, from: number, end: number): number {
    let at = from;
    while (at < end) {
      const byte = bytes[at] as number;
      const digit = hexValues[byte] as number;
      if (digit < 0) return this.#endChunkSize(byte, at);
      this.#sizeDigits += 1;
      this.#left = this.#left * 16 + digit;
      if (this.#sizeDigits > maxSizeDigits) {
        this.#fail('malformed', `a chunk size of the reply has more than ${maxSizeDigits} digits`);
        return at;
      }
      at += 1;
    }
    return at;
  }

  /** Takes the byte behind the digits of a chunk size. */
  #endChunkSize(byte: number, at: number): number {
    if (this.#sizeDigits === 0) {
      this.#fail('malformed', `a chunk size of the reply begins with ${excerpt(String.fromCharCode(byte))}`);
      return at;
    }
    this.#sizeDigits = 0;
    if (byte === carriageReturn) this.#state = State.chunkSizeFeed;
    else if (byte === lineFeed) this.#state = this.#left === 0 ? State.trailer : State.chunkData;
    else if (byte === semicolon || byte === space || byte === tab) {
      this.#extensionBytes = 0;
      this.#state = State.chunkExtension;
    } else {
      this.#fail('malformed', `a chunk size of the reply holds ${excerpt(String.fromCharCode(byte))}`);
      return at;
    }
    return at + 1;
  }

  #skipExtension(bytes: Buffer, from: number, end: number): number {
    const feedAt = feedIndex(bytes, from, end);
    this.#extensionBytes += feedAt - from;
    if (this.#extensionBytes > maxExtensionBytes) {
      this.#fail('limit', `a chunk extension of the reply is longer than ${maxExtensionBytes} bytes`);
      return from;
    }
    if (feedAt === end) return end;
    this.#state = this.#left === 0 ? State.trailer : State.chunkData;
    return feedAt + 1;
  }

  #expectFeed(bytes: Buffer, at: number, next: State): number {
    if (bytes[at] !== lineFeed) {
      this.#fail('malformed', 'a line of the reply has a carriage return without a line feed');
      return at;
    }
    this.#state = next;
    return at + 1;
  }

  /** Takes the line end behind a chunk's data. */
  #endChunkData(bytes: Buffer, at: number): number {
    if (bytes[at] === carriageReturn) {
      this.#state = State.chunkDataFeed;
      return at + 1;
    }
    if (bytes[at] !== lineFeed) {
      this.#fail('malformed', 'a chunk of the reply is longer than its size says');
      return at;
    }
    this.#state = State.chunkSize;
    return at + 1;
  }

  #readLine(bytes: Buffer, from: number, end: number, timeMs: number): number {
    const to = feedIndex(bytes, from, end);
    this.#headBytes += to - from;
    if (this.#headBytes > maxHeadBytes) {
      this.#fail('limit', `the headers of the reply are longer than ${maxHeadBytes} bytes`);
      return from;
    }
    if (!this.#builder.started && !this.#beginsAsHttp(bytes, from, to)) return from;
    if (to === end) {
      this.#line = Buffer.concat([this.#line, bytes.subarray(from, to)]);
      return end;
    }
    const line =
      this.#line.length === 0
        ? bytes.toString('latin1', from, to)
        : this.#line.toString('latin1') + bytes.toString('latin1', from, to);
    this.#line = noBytes;
    this.#takeLine(line.endsWith('\r') ? line.slice(0, -1) : line, timeMs);
    return to + 1;
  }

  /** Says at once that a server speaks another protocol, instead of waiting for a line end that may never come. */
  #beginsAsHttp(bytes: Buffer, from: number, to: number): boolean {
    const before = this.#line.length;
    for (let i = before; i < protocolName.length && from + i - before < to; i += 1) {
      if (bytes[from + i - before] === protocolName[i]) continue;
      const begin = this.#line.toString('latin1') + bytes.toString('latin1', from, Math.min(to, from + 64));
      this.#fail('malformed', `the reply is not HTTP/1.1: it begins with ${excerpt(begin)}`);
      return false;
    }
    return true;
  }

  #takeLine(line: string, timeMs: number): void {
    try {
      if (this.#state === State.trailer) {
        if (line === '') this.#state = State.complete;
      } else if (!this.#builder.started) this.#builder.takeStatusLine(line);
      else if (line !== '') this.#builder.takeHeaderLine(line);
      else this.#endHead(timeMs);
    } catch (error) {
      if (!(error instanceof MalformedReply)) throw error;
      this.#fail('malformed', error.message);
    }
  }

  /** @throws MalformedReply */
  #endHead(timeMs: number): void {
    const head = this.#builder.build();
    if (head.status === 101) throw new MalformedReply('the server switched protocols without being asked to');
    if (head.status < 200) {
      this.#builder = new HeadBuilder();
      return;
    }
    this.#expectBody(bodyFraming(this.#method, head));
    this.#sink.onHead(head, timeMs);
  }

  #expectBody(framing: BodyFraming): void {
    if (framing === 'none' || framing === 0) this.#state = State.complete;
    else if (framing === 'close') this.#state = State.closeBody;
    else if (framing === 'chunked') {
      this.#left = 0;
      this.#sizeDigits = 0;
      this.#state = State.chunkSize;
    } else {
      this.#left = framing;
      this.#state = State.lengthBody;
    }
  }
}
