import { countWords } from '../api/wire.suite.ts';
import { type VirtualScheduler, virtualScheduler } from '../engine/virtual-scheduler.ts';
import { opening, tone } from './duplex-client.suite.ts';
import { type ConnectionSettings, DuplexConnection } from './duplex-connection.ts';
import type { EventWire, StampedEvent } from './duplex-event.ts';
import { duplexCalibrations } from './duplex-laws.ts';
import { noDuplexObserver } from './duplex-observer.ts';
import { parseDuplexScript } from './duplex-script.ts';
import { type DuplexLimits, DuplexServer, duplexLimits } from './duplex-server.ts';
import type { DuplexParts } from './session-core.ts';

/** An event as it left, and when, ms. */
export type Sent = Readonly<Record<string, unknown>> & { readonly type: string; readonly atMs: number };

/** Fields of an object inside an event. */
export function inside(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (held, key) => (typeof held === 'object' && held !== null ? Object(held)[key] : undefined),
    value,
  );
}

/** A client on a clock that jumps. */
export class VirtualClient implements EventWire {
  readonly sent: Sent[] = [];
  readonly connection: DuplexConnection;
  readonly #world: VirtualDuplex;
  closedWith: { readonly code: number; readonly reason: string } | null = null;
  terminated = false;

  constructor(world: VirtualDuplex, settings: Partial<ConnectionSettings>) {
    this.#world = world;
    this.connection = new DuplexConnection(world.server, this, {
      autostart: false,
      model: null,
      faults: { factor: 1, engineDead: false, claimedRateHz: null },
      refusal: null,
      delayMs: 0,
      checkModel: () => {},
      ...settings,
    });
    world.settle();
  }

  send(event: StampedEvent): void {
    this.sent.push({ ...JSON.parse(event.text), atMs: this.#world.scheduler.nowMs() });
  }

  close(code: number, reason: string): void {
    this.closedWith ??= { code, reason };
    this.connection.close();
  }

  terminate(): void {
    this.terminated = true;
    this.connection.close();
  }

  /** Sends an event and lets it be applied. */
  say(event: unknown): void {
    this.connection.receive(Buffer.from(typeof event === 'string' ? event : JSON.stringify(event)));
    this.#world.settle();
  }

  /** Opens the session; what that brought is forgotten. */
  open(over: Readonly<Record<string, unknown>> = {}): this {
    this.say(opening(over));
    return this;
  }

  /** Streams sound in real time, in chunks of 200 ms, each sent when it has passed. */
  stream(durationMs: number, audio: { readonly amplitude?: number; readonly fields?: object } = {}): void {
    for (let atMs = 0; atMs < durationMs; atMs += 200) {
      const partMs = Math.min(200, durationMs - atMs);
      this.#world.pass(partMs);
      this.say({
        type: 'input_audio_buffer.append',
        audio: tone(partMs, audio.amplitude),
        input_audio_format: 'pcm16',
        sample_rate_hz: 16000,
        ...audio.fields,
      });
    }
  }

  commit(fields: object = {}): void {
    this.say({ type: 'input_audio_buffer.commit', final: true, ...fields });
  }

  of(type: string): Sent[] {
    return this.sent.filter((event) => event.type === type);
  }

  types(): string[] {
    return this.sent.map(({ type }) => type);
  }

  /** Codes of the errors so far, whatever their form. */
  errors(): unknown[] {
    return this.of('error').map((event) => inside(event, 'error', 'code') ?? event.code);
  }

  /** The id of the n-th response. */
  response(index = 0): string {
    return String(this.of('response.created')[index]?.response_id);
  }
}

/** A duplex server on a clock that jumps. */
export class VirtualDuplex {
  readonly scheduler: VirtualScheduler = virtualScheduler(1000);
  readonly server: DuplexServer;

  constructor(
    script: unknown = {},
    limits: Partial<DuplexLimits> = {},
    model: { readonly decides: boolean } = { decides: true },
    watch: Partial<Pick<DuplexParts, 'observer' | 'logLine'>> = {},
  ) {
    let ids = 0;
    const parsed = parseDuplexScript(script, 'test');
    this.server = new DuplexServer({
      parts: {
        scheduler: this.scheduler,
        timeScale: 1,
        laws: duplexCalibrations[parsed.calibration],
        eventNames: parsed.event_names,
        chunkPeriodMs: 1000,
        modelDecides: model.decides,
        servedModelName: 'openbmb/MiniCPM-o-4_5',
        countTokens: countWords,
        stageNames: ['thinker', 'talker', 'token2wav'],
        observer: noDuplexObserver,
        logLine: null,
        ...watch,
        newId: () => {
          ids += 1;
          return ids.toString(16).padStart(32, '0');
        },
      },
      limits: { ...duplexLimits, ...limits },
      script: parsed,
      seed: 0,
    });
  }

  connect(settings: Partial<ConnectionSettings> = {}): VirtualClient {
    return new VirtualClient(this, settings);
  }

  /** Runs what is due at this moment. */
  settle(): void {
    this.scheduler.runUntil(this.scheduler.nowMs());
  }

  pass(ms: number): void {
    this.scheduler.runUntil(this.scheduler.nowMs() + ms);
  }
}
