import { WebSocket } from 'ws';
import { until } from '../api/wire.suite.ts';

export const miniCpmO = 'openbmb/MiniCPM-o-4_5';

/** A minimal WAV as a data URL. */
export const refAudio = `data:audio/wav;base64,${Buffer.from('RIFF').toString('base64')}`;

/** An event as a client sees it. */
export type SeenEvent = Readonly<Record<string, unknown>> & { readonly type: string; readonly seq: number };

/** The first `session.update` of the benchmark. */
export function opening(over: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return {
    type: 'session.update',
    session: {
      model: miniCpmO,
      modalities: ['audio', 'text'],
      input_audio_format: 'pcm16',
      output_audio_format: 'pcm16',
      sample_rate_hz: 16000,
      turn_detection: null,
      ref_audio: refAudio,
      overlap_policy: 'listen_only',
      playback_commit_policy: 'ack_only',
      idle_timeout_s: 900,
      extra_body: { auto_response: true, force_listen_count: 0 },
      ...over,
    },
  };
}

const tones = new Map<string, string>();

/** Loud 16-bit sound at 16 kHz, as base64. */
export function tone(durationMs: number, amplitude = 8000): string {
  const key = `${durationMs} ${amplitude}`;
  const known = tones.get(key);
  if (known !== undefined) return known;
  const pcm = Buffer.alloc(Math.round(durationMs * 16) * 2);
  for (let at = 0; at < pcm.length; at += 2) pcm.writeInt16LE(at % 4 === 0 ? amplitude : -amplitude, at);
  const text = pcm.toString('base64');
  tones.set(key, text);
  return text;
}

/** A client over a real socket that keeps what it gets. */
export class DuplexClient {
  readonly events: SeenEvent[] = [];
  readonly socket: WebSocket;
  #closeCode: number | null = null;

  private constructor(url: string) {
    this.socket = new WebSocket(url.replace('http', 'ws'));
    this.socket.on('message', (data) => {
      const event = JSON.parse(String(data));
      this.events.push({ ...event, seq: event.server_event_seq ?? -1 });
    });
    this.socket.on('close', (code) => {
      this.#closeCode = code;
    });
    this.socket.on('error', () => {});
  }

  static async open(url: string): Promise<DuplexClient> {
    const client = new DuplexClient(url);
    await until(() => client.socket.readyState !== WebSocket.CONNECTING);
    return client;
  }

  send(event: unknown): void {
    this.socket.send(typeof event === 'string' ? event : JSON.stringify(event));
  }

  append(audio: string, over: Readonly<Record<string, unknown>> = {}): void {
    this.send({
      type: 'input_audio_buffer.append',
      audio,
      input_audio_format: 'pcm16',
      sample_rate_hz: 16000,
      ...over,
    });
  }

  /** The first event of a type that fits, once it has come. */
  async next(type: string, fits: (event: SeenEvent) => boolean = () => true): Promise<SeenEvent> {
    const find = (): SeenEvent | undefined => this.events.find((event) => event.type === type && fits(event));
    await until(() => find() !== undefined || this.#closeCode !== null);
    const found = find();
    if (found === undefined) throw new Error(`${type} never came; got ${this.types().join(' ')}`);
    return found;
  }

  types(): string[] {
    return this.events.map(({ type }) => type);
  }

  seqOf(type: string): number {
    return this.events.find((event) => event.type === type)?.seq ?? Number.POSITIVE_INFINITY;
  }

  async closed(): Promise<number> {
    await until(() => this.#closeCode !== null);
    return this.#closeCode ?? -1;
  }

  terminate(): void {
    this.socket.terminate();
  }
}
