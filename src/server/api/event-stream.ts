import type { FaultGate } from '../faults/fault-gate.ts';
import type { TruthCounts, TruthEvent } from '../truth-log.ts';
import { asciiJson } from './ascii-json.ts';
import type { ReplyLife } from './reply-life.ts';
import { RequestError } from './request-error.ts';
import { type BurstWrite, WriteBurst } from './write-burst.ts';

/** A client that reads nothing while this much waits for it is given up, bytes. */
const mostPendingBytes = 64 * 1024 * 1024;

type EventCounts = Omit<TruthCounts, 'bytes'>;

/** Events with content; the others are marks of the stream. */
const contentEvents: readonly TruthEvent[] = ['text', 'audio', 'image'];

const burst = new WriteBurst();

/** An event that waits for the end of the turn; it is noted when it is written. */
class FramedWrite implements BurstWrite {
  readonly #life: ReplyLife;
  readonly #event: TruthEvent;
  readonly #chunk: string;
  readonly #bytes: number;
  readonly #counts: EventCounts;

  constructor(life: ReplyLife, event: TruthEvent, chunk: string, bytes: number, counts: EventCounts) {
    this.#life = life;
    this.#event = event;
    this.#chunk = chunk;
    this.#bytes = bytes;
    this.#counts = counts;
  }

  write(): void {
    const { response, truth } = this.#life.accepted;
    const { socket } = response;
    if (socket === null || response.destroyed || response.writableEnded) return;
    truth.note(this.#event, this.#counts, this.#bytes);
    socket.write(this.#chunk, 'latin1');
    if (socket.writableLength > mostPendingBytes) socket.destroy();
  }
}

/**
 * A reply of server-sent events. Each event is one write to the socket, framed here as one HTTP chunk: half the
 * cost of the response's own `write`.
 */
export class EventStream {
  readonly #life: ReplyLife;
  readonly #gate: FaultGate | null;

  constructor(life: ReplyLife) {
    this.#life = life;
    this.#gate = life.gate(() => {
      const error = new RequestError(500, 'The stream failed, as the fault script says.');
      this.#write('error', asciiJson(error.body()), undefined, undefined);
      this.#write('done', '[DONE]', undefined, undefined);
      this.#close();
    });
  }

  /** Sends the headers at once. */
  open(headers: Readonly<Record<string, string>> = {}): void {
    const { response, truth, id } = this.#life.accepted;
    truth.note('headers');
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      'x-request-id': id,
      ...headers,
    });
    response.flushHeaders();
  }

  /**
   * Writes one event and notes it just before.
   * @param payload the text of its `data:` line, ASCII
   * @param name of its `event:` line; absent = it has none
   */
  send(event: TruthEvent, payload: string, counts?: EventCounts, name?: string): void {
    if (this.#gate === null) {
      this.#write(event, payload, counts, name);
      return;
    }
    this.#gate.text(payload, contentEvents.includes(event), (text) => this.#write(event, text, counts, name));
  }

  /**
   * As {@link send}, of an event in three parts. Where only the middle is new, V8 has less to join: a stream of tokens
   * spends more on that than on anything but the write itself.
   * @param head begins with `data: `
   * @param tail ends with the blank line
   */
  sendFramed(event: TruthEvent, head: string, text: string, tail: string, counts: EventCounts): void {
    const { response } = this.#life.accepted;
    if (this.#gate !== null || response.socket === null || !response.chunkedEncoding) {
      this.send(event, `${head}${text}${tail}`.slice('data: '.length, -2), counts);
      return;
    }
    const bytes = head.length + text.length + tail.length;
    const chunk = `${bytes.toString(16)}\r\n${head}${text}${tail}\r\n`;
    burst.add(new FramedWrite(this.#life, event, chunk, bytes, counts));
  }

  /**
   * As {@link send}, of an event whose larger part is a text that many share: it goes to the socket as it is, without
   * being joined to the rest.
   */
  sendShared(event: TruthEvent, head: string, shared: Buffer, tail: string, counts: EventCounts): void {
    const { response, truth } = this.#life.accepted;
    const { socket } = response;
    if (this.#gate !== null || socket === null || !response.chunkedEncoding) {
      this.send(event, `${head}${shared.toString('latin1')}${tail}`, counts);
      return;
    }
    burst.flush();
    if (response.destroyed || response.writableEnded) return;
    const start = `data: ${head}`;
    const bytes = start.length + shared.length + tail.length + 2;
    truth.note(event, counts, bytes);
    socket.cork();
    socket.write(`${bytes.toString(16)}\r\n${start}`, 'latin1');
    socket.write(shared);
    socket.write(`${tail}\n\n\r\n`, 'latin1');
    socket.uncork();
    if (socket.writableLength > mostPendingBytes) socket.destroy();
  }

  /** Ends the stream as OpenAI's clients expect it. */
  end(): void {
    this.send('done', '[DONE]');
    this.close();
  }

  /** Ends the stream without an end mark. */
  close(): void {
    if (this.#gate === null) this.#close();
    else this.#gate.pass(false, () => this.#close());
  }

  #close(): void {
    burst.flush();
    this.#life.response.end();
    this.#life.end();
  }

  #write(
    event: TruthEvent,
    payload: string,
    counts: EventCounts | undefined,
    name: string | undefined,
  ): void {
    burst.flush();
    const { response, truth } = this.#life.accepted;
    if (response.destroyed || response.writableEnded) return;
    const text = name === undefined ? `data: ${payload}\n\n` : `event: ${name}\ndata: ${payload}\n\n`;
    const bytes = text.length;
    const socket = response.socket;
    truth.note(event, counts, bytes);
    // A pipelined response has no socket until the one before it has ended; HTTP/1.0 has no chunks.
    if (socket === null || !response.chunkedEncoding) {
      response.write(text, 'latin1');
      return;
    }
    socket.write(`${bytes.toString(16)}\r\n${text}\r\n`, 'latin1');
    if (socket.writableLength > mostPendingBytes) socket.destroy();
  }
}
