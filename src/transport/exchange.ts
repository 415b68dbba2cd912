import type { Socket } from 'node:net';
import { nowMs } from '../foundation/clock.ts';
import { longestTimerMs } from '../foundation/longest-timer.ts';
import type { ExchangeTimes, HttpCall, HttpHandler, HttpRequest, TransportErrorKind } from './transport.ts';

function expire(exchange: Exchange): void {
  exchange.onTimeout();
}

/** One request and what has become of it: the facts, the time limit, and exactly one ending. */
export class Exchange {
  readonly request: HttpRequest;
  readonly #handler: HttpHandler;
  readonly #onSettled: () => void;
  readonly #catchUp: () => void;
  sendMs: number;
  connectedMs: number | null = null;
  connectionReused = false;
  headersMs: number | null = null;
  status: number | null = null;
  requestBytes = 0;
  responseBytes = 0;
  #settled = false;
  #timer: NodeJS.Timeout | null = null;
  #socket: Socket | null = null;
  #readBefore = 0;
  #writtenBefore = 0;

  /**
   * @param onSettled frees what the exchange holds; called once, before the handler hears of the ending
   * @param catchUp hands on what was read and not yet parsed: it may end the exchange in time
   */
  constructor(
    request: HttpRequest,
    handler: HttpHandler,
    onSettled: () => void,
    catchUp: () => void = () => {},
  ) {
    this.request = request;
    this.#handler = handler;
    this.#onSettled = onSettled;
    this.#catchUp = catchUp;
    this.sendMs = nowMs();
  }

  /** Starts the time limit. Node keeps timers of one length in one list, so thousands of equal limits cost little. */
  start(): void {
    this.sendMs = nowMs();
    const limitMs = this.request.timeoutMs;
    if (limitMs > 0) this.#timer = setTimeout(expire, Math.min(limitMs, longestTimerMs), this);
  }

  head(status: number, reason: string, headers: ReadonlyMap<string, string>, timeMs: number): void {
    this.status = status;
    this.headersMs = timeMs;
    this.#handler.onHeaders(status, reason, headers, timeMs);
  }

  data(bytes: Buffer, timeMs: number): void {
    this.#handler.onData(bytes, timeMs);
  }

  end(timeMs: number): void {
    if (this.#settle()) this.#handler.onEnd(this.#times(timeMs));
  }

  fail(kind: TransportErrorKind, message: string): void {
    if (!this.#settle()) return;
    const failure = { kind, message, bytesReceived: this.responseBytes };
    this.#handler.onFailure(failure, this.#times(nowMs()));
  }

  /** {@link fail} for callers that the handler may have called, or that it may be about to call. */
  failSoon(kind: TransportErrorKind, message: string): void {
    if (!this.#settle()) return;
    const failure = { kind, message, bytesReceived: this.responseBytes };
    process.nextTick(() => this.#handler.onFailure(failure, this.#times(nowMs())));
  }

  /** For clients that do not see the bytes themselves: sizes are what passes over this socket from here on. */
  countOn(socket: Socket): void {
    this.#socket = socket;
    this.#readBefore = socket.bytesRead;
    this.#writtenBefore = socket.bytesWritten;
  }

  /** Brings the sizes up to date. */
  count(): void {
    if (this.#socket === null) return;
    this.responseBytes = this.#socket.bytesRead - this.#readBefore;
    this.requestBytes = this.#socket.bytesWritten - this.#writtenBefore;
  }

  onTimeout(): void {
    this.#catchUp();
    const { timeoutMs } = this.request;
    this.count();
    const got = this.headersMs === null ? 'no reply' : `${this.responseBytes} bytes of an unfinished reply`;
    this.fail('timeout', `the time limit of ${timeoutMs} ms ran out with ${got}`);
  }

  #settle(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    this.count();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#onSettled();
    return true;
  }

  #times(endMs: number): ExchangeTimes {
    return {
      method: this.request.method,
      url: this.request.url,
      sendMs: this.sendMs,
      connectedMs: this.connectedMs,
      connectionReused: this.connectionReused,
      headersMs: this.headersMs,
      endMs,
      status: this.status,
      requestBytes: this.requestBytes,
      responseBytes: this.responseBytes,
    };
  }
}

/** Ends a request that is never sent. */
export function refuse(
  request: HttpRequest,
  handler: HttpHandler,
  kind: TransportErrorKind,
  problem: string,
): HttpCall {
  new Exchange(request, handler, () => {}).failSoon(kind, problem);
  return { abort: () => {} };
}
