import type { FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import type { TruthCounts, TruthEntry, TruthEvent } from '../truth-log.ts';
import { callersId } from './accepted-request.ts';
import type { ApiContext } from './api-context.ts';
import { type CollectedRun, type CollectHooks, CollectingSink } from './collect-run.ts';
import { type RunRequest, submitRun } from './reply-life.ts';
import { RequestError } from './request-error.ts';

/** A client that reads nothing while this much waits for it is given up, bytes. */
const mostPendingBytes = 64 * 1024 * 1024;

/** One WebSocket: its messages, its line in the truth log, and the runs that end with it. */
export class SocketSession {
  readonly id: string;
  readonly #context: ApiContext;
  readonly #socket: WebSocket;
  readonly #truth: TruthEntry;
  readonly #aborts = new Set<() => void>();
  #closed = false;

  constructor(context: ApiContext, socket: WebSocket, request: FastifyRequest) {
    this.#context = context;
    this.#socket = socket;
    this.id = callersId(request) ?? request.id;
    this.#truth = context.truthLog.entry(this.id);
    this.#truth.note('accepted', { atMs: request.acceptedMs });
    socket.on('close', () => this.#close());
    // A broken connection is followed by its close.
    socket.on('error', () => {});
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Calls back with each message in the order of their arrival, one after another. */
  onMessage(handle: (message: Readonly<Record<string, unknown>>) => void | Promise<void>): void {
    let last: Promise<void> = Promise.resolve();
    this.#socket.on('message', (data, isBinary) => {
      last = last.then(async () => {
        if (this.#closed) return;
        try {
          await handle(isBinary ? {} : parseMessage(String(data)));
        } catch (error) {
          this.error(error);
        }
      });
    });
  }

  /** Sends a message of JSON. */
  send(
    event: TruthEvent,
    message: Readonly<Record<string, unknown>>,
    counts?: Omit<TruthCounts, 'bytes'>,
  ): void {
    this.#write(event, JSON.stringify(message), counts);
  }

  /** Sends bare bytes. */
  sendBytes(bytes: Buffer, counts: Omit<TruthCounts, 'bytes'>): void {
    this.#write('audio', bytes, counts);
  }

  /** Tells the client what it or the server did wrong; the connection stays. */
  error(error: unknown): void {
    const known = error instanceof RequestError;
    if (!known) console.error(error);
    const refusal = known ? error : new RequestError(500, 'Internal error of the server; its log says more.');
    this.send('error', { type: 'error', message: refusal.message, ...refusal.body() });
  }

  /** Says that nothing more follows, and closes. */
  end(code: number, reason: string): void {
    if (this.#closed) return;
    this.#socket.close(code, reason);
  }

  /**
   * Starts a run and waits for its output; it is stopped with the connection.
   * @throws RequestError where it fails
   */
  run(request: RunRequest, acceptedMs: number, hooks: CollectHooks): Promise<CollectedRun> {
    return new Promise((resolve, reject) => {
      const started = submitRun(
        this.#context,
        { id: this.id, acceptedMs },
        request,
        (run) =>
          new CollectingSink(
            run,
            hooks,
            (collected) => {
              this.#aborts.delete(abort);
              resolve(collected);
            },
            (error) => {
              this.#aborts.delete(abort);
              reject(error);
            },
          ),
      );
      const abort = (): void => {
        started.abort();
        reject(new RequestError(500, 'The connection was closed.'));
      };
      if (this.#closed) abort();
      else this.#aborts.add(abort);
    });
  }

  /** Stops all runs; their waiters hear of an error. */
  abortRuns(): void {
    for (const abort of this.#aborts) abort();
    this.#aborts.clear();
  }

  #write(event: TruthEvent, data: string | Buffer, counts: Omit<TruthCounts, 'bytes'> | undefined): void {
    if (this.#closed || this.#socket.readyState !== this.#socket.OPEN) return;
    const bytes = typeof data === 'string' ? Buffer.byteLength(data) : data.length;
    this.#truth.note(event, counts, bytes);
    this.#socket.send(data);
    if (this.#socket.bufferedAmount > mostPendingBytes) this.#socket.terminate();
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#truth.note(this.#aborts.size > 0 ? 'abort' : 'done');
    this.abortRuns();
  }
}

/** @throws RequestError 400 for what is no JSON object */
function parseMessage(text: string): Readonly<Record<string, unknown>> {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    throw new RequestError(400, 'A message must be JSON.');
  }
  if (typeof message === 'object' && message !== null && !Array.isArray(message)) return { ...message };
  throw new RequestError(400, 'A message must be a JSON object.');
}
