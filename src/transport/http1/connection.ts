import type { OnReadOpts, Socket } from 'node:net';
import { nowMs } from '../../foundation/clock.ts';
import { messageOf } from '../../foundation/errors.ts';
import type { Exchange } from '../exchange.ts';
import { compressionProblem } from '../reply-rules.ts';
import type { ResponseHead } from './head-lines.ts';
import { idleLimitMs, keepsAlive } from './head-lines.ts';
import type { ReadQueue, ReadTaker } from './read-queue.ts';
import type { ResponseSink } from './response-reader.ts';
import { ResponseReader } from './response-reader.ts';

/** Servers close idle connections on the second they announce; a request on its way then would be lost. */
const idleMarginMs = 500;

/** Where connections come from and go back to. */
export type ConnectionOwner = {
  readonly reads: ReadQueue;
  /** The exchange is over and the connection can carry another. */
  onIdle(connection: Connection): void;
  /** The connection is gone; called once. */
  onClosed(connection: Connection): void;
};

/** One connection: writes one request at a time and reads its reply. */
export class Connection implements ResponseSink, ReadTaker {
  readonly originKey: string;
  /** Its place in the pool's list, kept by the pool; −1 = not idle. */
  idleIndex = -1;
  /** For `net.connect`: all connections read into one buffer, so that reading allocates nothing. */
  readonly onread: OnReadOpts;
  readonly #owner: ConnectionOwner;
  readonly #mayReuse: boolean;
  readonly #reader = new ResponseReader(this);
  #socket: Socket | null = null;
  #exchange: Exchange | null = null;
  #onStale: (() => void) | null = null;
  #keepsAlive = false;
  #idleLimitMs = Number.POSITIVE_INFINITY;
  #idleSinceMs = 0;
  /** Reads of this connection that are stamped and not yet parsed. */
  #heldReads = 0;

  constructor(originKey: string, owner: ConnectionOwner, mayReuse: boolean) {
    this.originKey = originKey;
    this.#owner = owner;
    this.#mayReuse = mayReuse;
    this.onread = {
      buffer: owner.reads.readBuffer,
      callback: (length) => {
        this.#heldReads += 1;
        owner.reads.hold(this, owner.reads.readBuffer, length);
        return true;
      },
    };
  }

  /** Takes over an open socket; one that was not made with {@link onread} is read through `data` events. */
  attach(socket: Socket, usesOnread: boolean): void {
    this.#socket = socket;
    const { reads } = this.#owner;
    const onBroken = (error: string | null): void => {
      reads.drain();
      this.#onBroken(error);
    };
    socket.on('error', (error) => onBroken(messageOf(error)));
    socket.on('end', () => onBroken(null));
    socket.on('close', () => onBroken(null));
    if (usesOnread) return;
    socket.on('data', (bytes: Buffer) => {
      this.#heldReads += 1;
      reads.hold(this, bytes, bytes.length);
    });
    socket.resume();
  }

  /** Whether the connection can be expected to be open at `timeMs`. */
  isUsable(timeMs: number): boolean {
    return (
      this.#socket !== null &&
      !this.#socket.destroyed &&
      this.#heldReads === 0 &&
      timeMs - this.#idleSinceMs < this.#idleLimitMs
    );
  }

  /**
   * Writes the request, in one system call where it fits the socket's buffer.
   * @param onStale called in place of a failure where the connection closes before any byte of the reply
   */
  send(exchange: Exchange, head: string, onStale: (() => void) | null): void {
    const socket = this.#socket;
    if (socket === null) throw new Error('a request was given to a connection that is not open');
    const { body, method } = exchange.request;
    this.#exchange = exchange;
    this.#onStale = onStale;
    this.#reader.begin(method);
    exchange.requestBytes = head.length + (body?.byteLength ?? 0);
    if (body === null || body.byteLength === 0) {
      socket.write(head, 'latin1');
      return;
    }
    socket.cork();
    socket.write(head, 'latin1');
    socket.write(body);
    socket.uncork();
  }

  /** Closes at once; an exchange on it is not told. */
  close(): void {
    const socket = this.#socket;
    this.#exchange = null;
    this.#reader.stop();
    if (socket === null) return;
    this.#socket = null;
    socket.destroy();
    this.#owner.onClosed(this);
  }

  /** {@link close}, unless the connection has moved on to another exchange or to the idle ones. */
  closeIfCarrying(exchange: Exchange): void {
    if (this.#exchange === exchange) this.close();
  }

  /** An idle connection does not keep the process alive. */
  setIdle(idle: boolean): void {
    if (idle) this.#socket?.unref();
    else this.#socket?.ref();
  }

  onHead(head: ResponseHead, timeMs: number): void {
    const exchange = this.#exchange;
    if (exchange === null) return;
    const limitMs = idleLimitMs(head);
    this.#keepsAlive = keepsAlive(head);
    this.#idleLimitMs = limitMs === null ? Number.POSITIVE_INFINITY : limitMs - idleMarginMs;
    exchange.head(head.status, head.reason, head.headers, timeMs);
    const problem = this.#reader.complete ? null : compressionProblem(head.headers);
    if (problem !== null) exchange.fail('malformed', problem);
  }

  onBody(bytes: Buffer, from: number, to: number, timeMs: number): void {
    this.#exchange?.data(bytes.subarray(from, to), timeMs);
  }

  takeRead(bytes: Buffer, from: number, to: number, timeMs: number): void {
    this.#heldReads -= 1;
    const exchange = this.#exchange;
    if (exchange === null) {
      // Nobody asked for these bytes: what follows on this connection could not be trusted.
      this.close();
      return;
    }
    exchange.responseBytes += to - from;
    const end = this.#reader.read(bytes, from, to, timeMs);
    if (this.#reader.reading) return;
    if (this.#reader.complete) this.#complete(exchange, end === to && this.#heldReads === 0, timeMs);
    else this.#failOf(exchange);
  }

  #complete(exchange: Exchange, nothingBehind: boolean, timeMs: number): void {
    const reusable = nothingBehind && this.#mayReuse && this.#keepsAlive && this.#hasWrittenAll();
    this.#exchange = null;
    this.#reader.stop();
    if (reusable) {
      this.#idleSinceMs = timeMs;
      this.#owner.onIdle(this);
    } else this.close();
    exchange.end(timeMs);
  }

  /** A server may answer before it has read the request; the rest of that request would precede the next one. */
  #hasWrittenAll(): boolean {
    return this.#socket !== null && this.#socket.writableLength === 0;
  }

  #failOf(exchange: Exchange): void {
    const { problem } = this.#reader;
    if (problem !== null) exchange.fail(problem.kind, problem.message);
  }

  /** The other side closed its end (`null`), or the connection broke. */
  #onBroken(error: string | null): void {
    const exchange = this.#exchange;
    if (exchange === null) {
      this.close();
    } else if (this.#onStale !== null && exchange.responseBytes === 0) {
      this.close();
      this.#onStale();
    } else if (error !== null) {
      exchange.fail('reset', `the connection broke: ${error}`);
    } else {
      this.#reader.finish();
      if (this.#reader.complete) this.#complete(exchange, false, nowMs());
      else this.#failOf(exchange);
    }
  }
}
