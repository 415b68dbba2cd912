import { setImmediate as realTurn } from 'node:timers/promises';
import { StopSwitch } from '../../foundation/stop-switch.ts';
import type {
  Transport,
  WebSocketCall,
  WebSocketEnd,
  WebSocketHandler,
  WebSocketRequest,
} from '../../transport/transport.ts';
import type { LiveInput } from '../../workloads/sample.ts';
import { exampleSample, exampleTarget } from '../endpoint.suite.ts';
import type { Observation, PreparedRequest, Target } from '../endpoint.ts';
import type { SessionClock } from './session-clock.ts';

export type Event = Record<string, unknown> & { type: string };
export type SentEvent = { readonly atMs: number; readonly event: Event };

/** Time that moves only when everything that could happen now has happened. */
export class VirtualClock implements SessionClock {
  #now = 1000;
  #next = 0;
  readonly #due = new Map<number, { timeMs: number; callback: () => void }>();

  nowMs(): number {
    return this.#now;
  }

  at(timeMs: number, callback: () => void): () => void {
    const key = this.#next++;
    this.#due.set(key, { timeMs, callback });
    return () => this.#due.delete(key);
  }

  /** Moves to the next thing that is due. */
  step(): void {
    let first: [number, { timeMs: number; callback: () => void }] | null = null;
    for (const entry of this.#due) if (first === null || entry[1].timeMs < first[1].timeMs) first = entry;
    if (first === null) throw new Error('nothing is due: the session waits for ever');
    this.#due.delete(first[0]);
    this.#now = Math.max(this.#now, first[1].timeMs);
    first[1].callback();
  }

  async settle<T>(promise: Promise<T>): Promise<T> {
    let over = false;
    const ended = promise.finally(() => {
      over = true;
    });
    ended.catch(() => {});
    for (;;) {
      await realTurn();
      if (over) return ended;
      this.step();
    }
  }
}

/** The server's side of a session in virtual time; says what its handlers say. */
export class VirtualServer {
  readonly clock = new VirtualClock();
  readonly stop = new StopSwitch();
  readonly sent: SentEvent[] = [];
  readonly #handlers = new Map<string, ((event: Event) => void)[]>();
  request: WebSocketRequest | null = null;
  #handler: WebSocketHandler | null = null;
  #seq = 0;
  #closed = false;
  /** What the network has not taken, bytes. */
  bufferedBytes = 0;
  /** Does not answer the opening request. */
  neverOpens = false;
  closedByClient = 0;

  on(type: string, handler: (event: Event) => void): this {
    this.#handlers.set(type, [...(this.#handlers.get(type) ?? []), handler]);
    return this;
  }

  /** Takes all handlers of a type back. */
  off(type: string): this {
    this.#handlers.delete(type);
    return this;
  }

  /** Sends an event with its number, now or later. */
  emit(event: Event, delayMs = 0): void {
    this.clock.at(this.clock.nowMs() + delayMs, () => {
      this.#seq += 1;
      this.raw(JSON.stringify({ event_id: `event_${this.#seq}`, ...event, server_event_seq: this.#seq }));
    });
  }

  /** Sends a message as it stands, at once. */
  raw(text: string): void {
    if (!this.#closed) this.#handler?.onText(text, this.clock.nowMs());
  }

  /** Sends a binary message, at once. */
  binary(bytes: number): void {
    if (!this.#closed) this.#handler?.onBinary?.(bytes);
  }

  end(end: WebSocketEnd): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#handler?.onEnd(end, this.#times());
  }

  /** Events of one type as the client sent them. */
  sentOf(type: string): SentEvent[] {
    return this.sent.filter(({ event }) => event.type === type);
  }

  observe(
    run: (context: { transport: Transport; stop: StopSwitch; clock: SessionClock }) => Promise<Observation>,
  ): Promise<Observation> {
    const transport: Transport = {
      name: 'virtual',
      request: () => ({ abort: () => {} }),
      stats: () => ({ connectionsOpened: 0, connectionsReused: 0, requests: 0 }),
      close: () => {},
      openWebSocket: (request, handler) => this.#open(request, handler),
    };
    return this.clock.settle(run({ transport, stop: this.stop, clock: this.clock }));
  }

  #open(request: WebSocketRequest, handler: WebSocketHandler): WebSocketCall {
    this.request = request;
    this.#handler = handler;
    this.#closed = false;
    this.#seq = 0;
    if (!this.neverOpens) this.clock.at(this.clock.nowMs() + 1, () => handler.onOpen(this.clock.nowMs()));
    const server = this;
    return {
      get bufferedBytes() {
        return server.bufferedBytes;
      },
      times: () => this.#times(),
      send: (text) => this.#hear(text),
      close: () => {
        this.closedByClient += 1;
      },
      abort: () => {},
    };
  }

  #hear(text: string): void {
    if (this.#closed) return;
    const event: Event = JSON.parse(text);
    this.sent.push({ atMs: this.clock.nowMs(), event });
    for (const handler of this.#handlers.get(event.type) ?? []) handler(event);
  }

  #times() {
    return {
      method: 'GET',
      url: this.request?.url ?? '',
      sendMs: 1000,
      connectedMs: 1000.5,
      connectionReused: false,
      headersMs: 1001,
      endMs: this.clock.nowMs(),
      status: 101,
      requestBytes: 10,
      responseBytes: 20,
    };
  }
}

export const capabilities = {
  implementation_level: 'model_native_duplex',
  supports_input_append: true,
  chunk_period_ms: 1000,
};

/** A server that opens, commits, decides to listen, and closes. */
export function politeServer(): VirtualServer {
  const server = new VirtualServer();
  server
    .on('session.update', () => {
      server.emit({ type: 'session.created', session: { id: 'duplex-7', capabilities } }, 5);
      server.emit({ type: 'session.updated', session: { id: 'duplex-7' } }, 5);
    })
    .on('input_audio_buffer.commit', () => {
      server.emit({ type: 'input_audio_buffer.committed', item_id: 'item_1', event: {} }, 3);
      server.emit(listen(), 40);
    })
    .on('session.close', () => {
      server.emit({ type: 'session.closed', session_id: 'duplex-7', reason: 'client_close' }, 2);
    });
  return server;
}

export function listen(metadata: Record<string, unknown> = {}): Event {
  return { type: 'response.listen', response: { metadata: { model_listen: true, ...metadata } } };
}

/** Silence of so many samples, as deltas carry it. */
export function pcmBase64(samples: number): string {
  return Buffer.alloc(samples * 2, 1).toString('base64');
}

export function audioDelta(id: string, samples: number, more: Record<string, unknown> = {}): Event {
  return {
    type: 'response.output_audio.delta',
    response_id: id,
    delta: pcmBase64(samples),
    format: 'pcm16',
    sample_rate_hz: 24_000,
    ...more,
  };
}

export function textDelta(id: string, delta: string, type = 'response.output_audio_transcript.delta'): Event {
  return { type, response_id: id, delta };
}

export function created(id: string): Event {
  return { type: 'response.created', response_id: id, response: { id, status: 'in_progress' } };
}

export function done(id: string, status = 'completed', more: Record<string, unknown> = {}): Event {
  return { type: 'response.done', response_id: id, response: { id, status, ...more } };
}

/** Two seconds of sound and two pictures. */
export const exampleLive: LiveInput = {
  pcm: new Uint8Array(64_000).fill(3),
  sampleRateHz: 16_000,
  frames: [Uint8Array.of(0xff, 0xd8, 1), Uint8Array.of(0xff, 0xd8, 2)],
  durationS: 1.5,
  refAudio: Uint8Array.of(82, 73, 70, 70),
  caseFacts: { subset: '1q1a', video_rel: 'videos/0001.mp4' },
};

export function preparedLive(
  prepare: (sample: typeof exampleSample, target: Target) => PreparedRequest,
  live: Partial<LiveInput> = {},
  target: Partial<Target> = {},
): PreparedRequest {
  return prepare(
    { ...exampleSample, live: { ...exampleLive, ...live } },
    exampleTarget('http://127.0.0.1:8000/v1/realtime', target),
  );
}
