import { nowMs } from '../foundation/clock.ts';
import type { Attempt, Outcome } from '../records/request-record.ts';
import { SseReader } from '../transport/sse-reader.ts';
import type { ExchangeTimes, TransportFailure } from '../transport/transport.ts';
import { boundedText } from './bounded-text.ts';
import { ChunkParser } from './chunk-parser.ts';
import type { ObserveContext } from './endpoint.ts';
import { proofText } from './proof-text.ts';
import { retryAfterMs } from './retry-after.ts';

/** Takes the messages of one reply as they come. */
export type ReplyReader = {
  /**
   * One streamed message that parsed as JSON. It is valid during the call only: the same object comes again where only
   * the text of the first choice is new.
   */
  onMessage(message: unknown, timeMs: number): void;
  /** The whole body of a reply that was not streamed; `parseMs` is what parsing it took after `timeMs`. */
  onWhole(body: unknown, timeMs: number, parseMs: number): void;
  /** Takes bodies that are neither events nor JSON; absent = such a reply is of the wrong type. */
  readonly raw?: RawReader;
  /**
   * The reply is complete; says whether it holds what was asked for.
   * @returns `null` for success
   */
  verdict(): Failure | null;
  /** Whether a message said that the reply is at its end (a finish reason); absent = messages say no such thing. */
  finished?(): boolean;
  /**
   * What messages of every server end with, for the error message: a stream that ends without it and without [DONE] is
   * cut, however the connection ended. Absent = servers leave it out, and the framing of the body decides.
   */
  readonly lastMessage?: string;
};

/** Takes a body as bytes, e.g. sound. */
export type RawReader = {
  /**
   * Hears the head of a good reply; says whether its body is to be taken as bytes.
   * @param contentType in lower case; empty where the server names none
   */
  begin(contentType: string, headers: ReadonlyMap<string, string>): boolean;
  /** `bytes` is valid during the call only. */
  onBytes(bytes: Buffer, timeMs: number): void;
};

/** One HTTP request; a prepared request is one. */
export type HttpSend = {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  /** `null` = none. */
  readonly body: Uint8Array | null;
};

export type Failure = Exclude<Outcome, { ok: true }>;

export type ReplyResult = {
  readonly attempt: Attempt;
  readonly outcome: Outcome;
  /** No byte of the reply was seen and the connection is to blame: sending again is safe. */
  readonly retryable: boolean;
  /** How long the server asks to wait before the next try, ms; `null` = it does not say. */
  readonly retryAfterMs: number | null;
  /** The start of the body as it came, as text; empty = none came. */
  proof(): string;
};

/** Most of a failed reply's body that is kept, bytes. */
const proofBytes = 16 * 1024;
/** Of a stream once it has brought a message: every request of a run copies that much. */
const streamProofBytes = 2 * 1024;
/** Most messages of one stream: far beyond any reply, and what keeps an endless one from filling the client. */
const maxMessages = 1_000_000;
/** Largest unstreamed body that is read, bytes. */
const wholeBodyBytes = 512 * 1024 * 1024;

export function failure(
  kind: Failure['kind'],
  message: string,
  extra: { status?: number | null; body?: string | null } = {},
): Failure {
  const body = extra.body ?? null;
  return {
    ok: false,
    kind,
    status: extra.status ?? null,
    message: boundedText(message),
    body: body === null ? null : boundedText(body),
  };
}

/**
 * Sends one request and feeds its reply to `reader`: server-sent events message by message, a JSON body whole, other
 * bodies as bytes where the reader takes them.
 * Every way it can go wrong becomes an outcome.
 */
export function readReply(
  send: HttpSend,
  context: ObserveContext,
  reader: ReplyReader,
): Promise<ReplyResult> {
  return new Promise((resolve) => {
    new ReplyWatch(send, context, reader, resolve).start();
  });
}

class ReplyWatch {
  readonly #send: HttpSend;
  readonly #context: ObserveContext;
  readonly #reader: ReplyReader;
  readonly #resolve: (result: ReplyResult) => void;
  #status: number | null = null;
  #reason = '';
  #contentType = '';
  #retryAfterMs: number | null = null;
  #mode: 'undecided' | 'events' | 'whole' | 'raw' | 'failed' = 'undecided';
  #sse: SseReader | null = null;
  readonly #parser = new ChunkParser();
  #body: Buffer[] = [];
  #bodyBytes = 0;
  #lastReadMs = 0;
  #messages = 0;
  #sawDone = false;
  /** The reply says how long it is; else only its closing ends it. */
  #framed = true;
  #failure: Failure | null = null;
  #abort: () => void = () => {};
  #stop: () => void = () => {};

  constructor(
    send: HttpSend,
    context: ObserveContext,
    reader: ReplyReader,
    resolve: (result: ReplyResult) => void,
  ) {
    this.#send = send;
    this.#context = context;
    this.#reader = reader;
    this.#resolve = resolve;
  }

  start(): void {
    const { transport, timeoutMs, stop } = this.#context;
    const { method, url, headers, body } = this.#send;
    const call = transport.request({ method, url, headers, body, timeoutMs }, this);
    this.#abort = () => call.abort();
    if (stop.stopped) call.abort();
    else this.#stop = stop.onStop(this.#abort);
  }

  onHeaders(status: number, reason: string, headers: ReadonlyMap<string, string>, timeMs: number): void {
    this.#status = status;
    this.#reason = reason;
    this.#lastReadMs = timeMs;
    this.#framed = headers.has('content-length') || headers.has('transfer-encoding');
    this.#retryAfterMs = retryAfterMs(headers.get('retry-after'), Date.now());
    this.#contentType = (headers.get('content-type') ?? '').toLowerCase();
    if (status < 200 || status > 299) this.#mode = 'failed';
    else if (this.#contentType.startsWith('text/event-stream')) this.#startEvents();
    else if (this.#contentType.includes('json')) this.#mode = 'whole';
    else if (this.#reader.raw?.begin(this.#contentType, headers)) this.#mode = 'raw';
  }

  onData(bytes: Buffer, timeMs: number): void {
    this.#lastReadMs = timeMs;
    if (this.#mode === 'undecided') this.#decideBySight(bytes);
    if (this.#mode === 'events') {
      this.#keep(bytes, this.#messages === 0 ? proofBytes : streamProofBytes);
      this.#sse?.push(bytes, timeMs);
    } else if (this.#mode === 'whole') {
      this.#keep(bytes, wholeBodyBytes);
      if (this.#bodyBytes > wholeBodyBytes)
        this.#fail(
          failure('limit', `the reply's body is larger than ${wholeBodyBytes} bytes`, {
            status: this.#status,
          }),
        );
    } else if (this.#mode === 'raw') {
      this.#keep(bytes, proofBytes);
      this.#reader.raw?.onBytes(bytes, timeMs);
    } else this.#keep(bytes, proofBytes);
  }

  onEnd(times: ExchangeTimes): void {
    this.#stop();
    if (this.#mode === 'events') this.#sse?.end();
    this.#finish(times, this.#failure ?? this.#judge(times), false);
  }

  onFailure(failed: TransportFailure, times: ExchangeTimes): void {
    this.#stop();
    if (this.#failure) this.#finish(times, this.#failure, false);
    // A stream that said [DONE] is complete, however the connection ended.
    else if (this.#sawDone && failed.kind === 'reset') this.#finish(times, this.#judge(times), false);
    else {
      const retryable = failed.bytesReceived === 0 && (failed.kind === 'connect' || failed.kind === 'reset');
      this.#finish(times, this.#transportFailure(failed), retryable);
    }
  }

  #startEvents(): void {
    this.#mode = 'events';
    this.#sse = new SseReader({
      maxLineBytes: this.#context.maxLineBytes,
      onMessage: (data, timeMs, event) => this.#message(data, timeMs, event),
      onLimit: (message) =>
        this.#fail(
          failure('limit', `${message} (--max-line-bytes)`, { status: this.#status, body: this.#proof() }),
        ),
    });
  }

  /** Servers that name no type, or a wrong one, are taken at the word of their first bytes. */
  #decideBySight(bytes: Buffer): void {
    const start = bytes.subarray(0, 64).toString('latin1').trimStart();
    if (/^(data|event|id|retry)?:/.test(start)) this.#startEvents();
    else if (start.startsWith('{')) this.#mode = 'whole';
    else this.#mode = 'failed';
  }

  #message(data: string, timeMs: number, event: string | null): void {
    if (this.#failure) return;
    this.#messages += 1;
    if (this.#messages > maxMessages) {
      this.#fail(
        failure('limit', `the stream has more than ${maxMessages} messages`, { status: this.#status }),
      );
      return;
    }
    // What a server sends after the end of a reply is no part of it.
    if (this.#sawDone) return;
    if (data === '[DONE]') {
      this.#sawDone = true;
      return;
    }
    let message: unknown;
    try {
      message = this.#parser.parse(data);
    } catch {
      const proof = data.slice(0, proofBytes);
      if (event === 'error')
        this.#fail(
          failure('stream_error', data.trim() === '' ? 'the stream carried an error event' : proof, {
            status: this.#status,
            body: proof,
          }),
        );
      else
        this.#fail(
          failure('malformed', 'the stream carried an event that is not JSON', {
            status: this.#status,
            body: proof,
          }),
        );
      return;
    }
    if (event === 'error' && !hasError(message)) message = { error: message };
    this.#reader.onMessage(message, timeMs);
  }

  /** The first failure counts; nothing more is read. */
  #fail(found: Failure): void {
    this.#failure ??= found;
    this.#abort();
  }

  #judge(times: ExchangeTimes): Outcome {
    const status = this.#status;
    if (this.#mode === 'failed' && status !== null && (status < 200 || status > 299)) {
      const body = this.#proof();
      const said = `HTTP ${status}${this.#reason === '' ? '' : ` ${this.#reason}`}`;
      return failure('http', body === '' ? said : `${said}: ${body}`, { status, body });
    }
    if (this.#mode === 'failed') {
      return failure(
        'content_type',
        `the reply is ${this.#contentType || 'of no named type'}, expected ${this.#reader.raw ? 'the payload asked for, ' : ''}text/event-stream or JSON. Is ${this.#send.url} the right endpoint?`,
        { status, body: this.#proof() },
      );
    }
    if (this.#mode === 'whole') return this.#judgeWhole(times.endMs ?? this.#lastReadMs);
    if (this.#mode === 'events' && this.#messages === 0 && this.#bodyBytes > 0) {
      return failure('malformed', 'the stream held bytes but not one server-sent event', {
        status,
        body: this.#proof(),
      });
    }
    if (this.#mode === 'raw') this.#readDisguisedJson(times.endMs ?? this.#lastReadMs);
    const verdict = this.#verdict();
    if (verdict) return verdict;
    if (this.#mode !== 'raw' && this.#messages === 0)
      return failure('empty', 'empty response: the reply has no body', { status });
    return (this.#mode === 'events' && this.#cutStream()) || { ok: true };
  }

  #cutStream(): Failure | null {
    if (this.#sawDone || this.#reader.finished?.() !== false) return null;
    const { lastMessage } = this.#reader;
    if (lastMessage === undefined && this.#framed) return null;
    return failure(
      'reset',
      lastMessage === undefined
        ? 'the connection closed in the middle of the stream: neither a finish reason nor [DONE] had come'
        : `the stream ended in the middle: neither ${lastMessage} nor [DONE] had come`,
      { status: this.#status, body: this.#proof() },
    );
  }

  /** An error in JSON under the type of a payload is an error; no payload is a JSON object from end to end. */
  #readDisguisedJson(endMs: number): void {
    if (this.#bodyBytes > proofBytes) return;
    const text = Buffer.concat(this.#body).toString('utf8');
    if (!/^\s*\{/.test(text)) return;
    const parseStartMs = nowMs();
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      return;
    }
    this.#reader.onWhole(body, endMs, nowMs() - parseStartMs);
  }

  /** What the reader says, with the status that was really seen and what the server really sent. */
  #verdict(): Failure | null {
    const found = this.#reader.verdict();
    if (!found) return null;
    // A message of a stream that proves it is better than the stream's start.
    const isOneMessage = this.#mode === 'events' && found.body !== null;
    return { ...found, status: this.#status, body: isOneMessage ? found.body : this.#proof() };
  }

  #judgeWhole(endMs: number): Outcome {
    const text = Buffer.concat(this.#body).toString('utf8');
    const parseStartMs = nowMs();
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      return failure(
        text.trim() === '' ? 'empty' : 'malformed',
        text.trim() === ''
          ? 'empty response: the reply has no body'
          : 'the reply claims to be JSON and does not parse',
        { status: this.#status, body: this.#proof() },
      );
    }
    this.#reader.onWhole(body, endMs, nowMs() - parseStartMs);
    return this.#verdict() ?? { ok: true };
  }

  #transportFailure(failed: TransportFailure): Failure {
    const body = this.#proof();
    return failure(failed.kind, failed.message, { status: this.#status, body: body === '' ? null : body });
  }

  #keep(bytes: Buffer, limit: number): void {
    if (this.#bodyBytes < limit) this.#body.push(Buffer.from(bytes));
    this.#bodyBytes += bytes.length;
  }

  #proof(): string {
    const pieces: Buffer[] = [];
    for (let bytes = 0, i = 0; bytes < proofBytes && i < this.#body.length; i += 1) {
      const piece = this.#body[i] ?? Buffer.alloc(0);
      pieces.push(piece);
      bytes += piece.length;
    }
    return proofText(Buffer.concat(pieces).subarray(0, proofBytes));
  }

  #finish(times: ExchangeTimes, outcome: Outcome, retryable: boolean): void {
    const endMs = times.endMs ?? this.#lastReadMs;
    this.#resolve({
      attempt: {
        sendMs: times.sendMs,
        endMs,
        exchanges: [times],
        error: outcome.ok ? null : outcome.message,
      },
      outcome,
      retryable,
      retryAfterMs: this.#retryAfterMs,
      proof: () => this.#proof(),
    });
  }
}

function hasError(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'error' in message && message.error !== null;
}
