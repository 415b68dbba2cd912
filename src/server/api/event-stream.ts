import type { ServerResponse } from 'node:http';
import type { TruthCounts, TruthEntry, TruthEvent } from '../truth-log.ts';

/** A client that reads nothing while this much waits for it is given up, bytes. */
const mostPendingBytes = 64 * 1024 * 1024;

/**
 * A reply of server-sent events. Each event is one write to the socket, framed here as one HTTP chunk: half the
 * cost of the response's own `write`.
 */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #truth: TruthEntry;

  constructor(response: ServerResponse, truth: TruthEntry) {
    this.#response = response;
    this.#truth = truth;
  }

  /** Sends the headers at once. */
  open(requestId: string): void {
    this.#truth.note('headers');
    this.#response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      'x-request-id': requestId,
    });
    this.#response.flushHeaders();
  }

  /**
   * Writes one event and notes it just before.
   * @param payload the text of its `data:` line, ASCII
   */
  send(event: TruthEvent, payload: string, counts?: Omit<TruthCounts, 'bytes'>): void {
    const response = this.#response;
    if (response.destroyed || response.writableEnded) return;
    // "data: " before it and a blank line after it.
    const bytes = payload.length + 8;
    const socket = response.socket;
    this.#truth.note(event, { ...counts, bytes });
    // A pipelined response has no socket until the one before it has ended; HTTP/1.0 has no chunks.
    if (socket === null || !response.chunkedEncoding) {
      response.write(`data: ${payload}\n\n`, 'latin1');
      return;
    }
    socket.write(`${bytes.toString(16)}\r\ndata: ${payload}\n\n\r\n`, 'latin1');
    if (socket.writableLength > mostPendingBytes) socket.destroy();
  }

  /** Ends the stream as OpenAI's clients expect it. */
  end(): void {
    this.send('done', '[DONE]');
    this.#response.end();
  }
}
