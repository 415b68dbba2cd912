import type { TimedDelta } from '../../accuracy/duplex-eval/sentences.ts';
import { errorText, textDeltaTypes } from '../../endpoints/duplex/audio-delta.ts';
import { ModelDecision } from '../../endpoints/duplex/completion.ts';
import { FrameItems, type FrameTransport, frameTransport } from '../../endpoints/duplex/frame-transport.ts';
import { PlaybackAcks } from '../../endpoints/duplex/playback-acks.ts';
import { maxMessageBytes, RealtimeConnection } from '../../endpoints/duplex/realtime-connection.ts';
import type { SessionClock } from '../../endpoints/duplex/session-clock.ts';
import { SessionFault } from '../../endpoints/duplex/session-fault.ts';
import { SessionLog } from '../../endpoints/duplex/session-log.ts';
import type { StopSignal } from '../../endpoints/endpoint.ts';
import { asObject, asText, type JsonObject } from '../../endpoints/json-values.ts';
import { roundTo } from '../../foundation/nearest-rank.ts';
import type { Transport } from '../../transport/transport.ts';

/** A video with its question as a session gets it. */
export type EvalScript = {
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  /** The session object of `session.update`. */
  readonly session: JsonObject;
  /** Mono 16-bit samples at 16 kHz; after them there is silence. */
  readonly question: Buffer;
  readonly frames: readonly Buffer[];
  readonly fps: number;
  /** Length of the input, whole seconds. */
  readonly seconds: number;
  /** Send each unit when it would have been heard; otherwise as fast as it goes. */
  readonly isRealtime: boolean;
};

/** What came of a session. */
export type EvalResponse = {
  /** Text and when it came on the input's clock, by responses in order. */
  readonly deltas: readonly TimedDelta[];
  readonly responseDone: boolean;
  /** The wait for an answer to the end of the input ran out. */
  readonly drainTimeout: boolean;
  readonly closeTimeout: boolean;
  readonly warnings: readonly string[];
  readonly log: SessionLog;
  readonly streamStartMs: number;
};

export const unitMs = 1000;
const sampleRateHz = 16_000;
const unitBytes = (sampleRateHz * 2 * unitMs) / 1000;
const handshakeMs = 20_000;
const ackMs = 250;
const closeMs = 20_000;
const toleratedErrors = new Set<string | null>(['playback_ack_too_late', 'playback_item_not_found']);

/** Holds one session of the evaluation: units of a second each, a commit, and the wait for what is still to be said. */
export class EvalSession {
  readonly #script: EvalScript;
  readonly #clock: SessionClock;
  readonly #transport: Pick<Transport, 'openWebSocket'>;
  readonly #connection: RealtimeConnection;
  readonly #log = new SessionLog('Omni-DuplexEval');
  readonly #acks = new PlaybackAcks(this.#log.queue);
  readonly #completion = new ModelDecision();
  readonly #items = new FrameItems();
  readonly #deltas: TimedDelta[] = [];
  #session: JsonObject | null = null;
  #streamStartMs = 0;
  #mediaMs = 0;
  #closing = false;
  #closed = false;

  constructor(
    script: EvalScript,
    tools: { clock: SessionClock; stop: StopSignal; transport: Pick<Transport, 'openWebSocket'> },
  ) {
    this.#script = script;
    this.#clock = tools.clock;
    this.#transport = tools.transport;
    this.#connection = new RealtimeConnection(
      {
        clock: tools.clock,
        stop: tools.stop,
        timeoutMs: 0,
        openWebSocket: (request, handler) => this.#transport.openWebSocket(request, handler),
      },
      (event, timeMs) => this.#onEvent(event, timeMs),
      this.#log.warnings,
    );
  }

  /** @throws SessionFault where the session breaks */
  async run(): Promise<EvalResponse> {
    const { url, headers } = this.#script;
    try {
      await this.#connection.open({ url, headers, openTimeoutMs: handshakeMs, maxMessageBytes });
      this.#connection.send({ type: 'session.update', session: this.#script.session });
      const deadlineMs = this.#clock.nowMs() + handshakeMs;
      if (!(await this.#connection.until(deadlineMs, () => this.#session !== null)))
        throw new SessionFault('timeout', 'Timed out waiting for session.created');
      const streamStartMs = this.#clock.nowMs();
      this.#streamStartMs = streamStartMs;
      await this.#stream(streamStartMs);
      const drainTimeout = !(await this.#drain());
      const closeTimeout = !(await this.#close());
      return {
        deltas: this.#deltas,
        responseDone: this.#log.ledger.createdCount > 0 && !this.#log.ledger.hasUnfinished,
        drainTimeout,
        closeTimeout,
        warnings: this.#log.warnings.list,
        log: this.#log,
        streamStartMs,
      };
    } catch (error) {
      throw error instanceof SessionFault ? error.besides(this.#log.warnings.losses) : error;
    } finally {
      this.#connection.close();
    }
  }

  async #stream(startMs: number): Promise<void> {
    const { seconds, isRealtime, fps } = this.#script;
    const mode = frameTransport(asObject(this.#session?.capabilities));
    for (let unit = 0; unit < seconds; unit += 1) {
      await this.#connection.drained(Number.POSITIVE_INFINITY);
      this.#append(unit, { mode, frames: this.#framesOf(unit, fps) });
      this.#mediaMs = (unit + 1) * unitMs;
      if (!isRealtime) {
        this.#acknowledge();
        continue;
      }
      const nextMs = startMs + this.#mediaMs;
      for (let now = this.#clock.nowMs(); now < nextMs; now = this.#clock.nowMs()) {
        this.#acknowledge();
        await this.#connection.until(Math.min(nextMs, now + ackMs));
      }
    }
  }

  #framesOf(unit: number, fps: number): string[] {
    const from = Math.ceil(unit * fps);
    return this.#script.frames
      .slice(from, Math.ceil((unit + 1) * fps))
      .map((jpeg) => jpeg.toString('base64'));
  }

  #append(unit: number, { mode, frames }: { mode: FrameTransport; frames: readonly string[] }): void {
    if (mode === 'image_items')
      for (const frame of frames)
        for (const event of this.#items.eventsFor(frame)) this.#connection.send(event);
    const pcm = Buffer.alloc(unitBytes);
    pcm.set(this.#script.question.subarray(unit * unitBytes, (unit + 1) * unitBytes));
    this.#connection.send({
      type: 'input_audio_buffer.append',
      audio: pcm.toString('base64'),
      input_audio_format: 'pcm16',
      sample_rate_hz: sampleRateHz,
      duration_ms: unitMs,
      audio_end_ms: (unit + 1) * unitMs,
      ...(mode === 'append' && frames.length > 0 ? { video_frames: frames } : {}),
    });
  }

  /** @returns whether everything was said in time */
  async #drain(): Promise<boolean> {
    this.#connection.send({ type: 'input_audio_buffer.commit', final: true });
    this.#completion.inputEnded(this.#clock.nowMs());
    const deadlineMs = this.#clock.nowMs() + Math.max(20, this.#script.seconds + 20) * 1000;
    for (let now = this.#clock.nowMs(); now < deadlineMs; now = this.#clock.nowMs()) {
      this.#acknowledge();
      if (this.#completion.isComplete(now, this.#log.ledger)) return true;
      await this.#connection.until(Math.min(deadlineMs, now + ackMs));
    }
    return false;
  }

  /** @returns whether the server confirmed the end */
  async #close(): Promise<boolean> {
    this.#closing = true;
    this.#connection.send({ type: 'session.close' });
    return this.#connection.until(this.#clock.nowMs() + closeMs, () => this.#closed);
  }

  #acknowledge(): void {
    for (const { responseId, playedMs } of this.#acks.due(this.#clock.nowMs()))
      this.#connection.send({
        type: 'playback.ack',
        played_ms: playedMs,
        committed_ms: playedMs,
        response_id: responseId,
        item_id: `item_${responseId}`,
      });
  }

  #onEvent(event: JsonObject, timeMs: number): void {
    if (this.#closed) return;
    if (event.type === 'session.created' && this.#session === null) {
      this.#session = asObject(event.session) ?? {};
      return;
    }
    if (event.type === 'error') this.#onError(event);
    if (event.type === 'session.closed' || event.type === 'session.expired') {
      this.#connection.endAcknowledging();
      this.#closed = true;
      if (!this.#closing)
        throw new SessionFault('stream_error', `${event.type}: ${asText(event.reason) ?? 'no reason'}`);
      return;
    }
    this.#log.take(event, timeMs);
    this.#completion.onEvent(event, timeMs, this.#log.ledger);
    const text = textDeltaTypes.has(event.type) ? (asText(event.delta) ?? '') : '';
    // In real time the input's clock is the world's; otherwise all that is known is how much was sent.
    const heardMs = this.#script.isRealtime ? timeMs - this.#streamStartMs : this.#mediaMs;
    if (text !== '') this.#deltas.push({ text, timeS: roundTo(mediaTimeMs(event, heardMs) / 1000, 3) });
  }

  #onError(event: JsonObject): void {
    const { code, text } = errorText(event);
    if (this.#session !== null && toleratedErrors.has(code))
      this.#log.warnings.add(`tolerated in-flight server rejection: ${code}`);
    else if (!this.#closing) throw new SessionFault('stream_error', text);
  }
}

/** When a delta was said on the input's clock, as the server says, else when it was heard. */
function mediaTimeMs(event: JsonObject, heardMs: number): number {
  const metadata = asObject(event.metadata);
  const places = [
    event.audio_end_ms,
    metadata?.audio_end_ms,
    event.current_time_ms,
    metadata?.current_time_ms,
  ];
  const said = places.find((value) => typeof value === 'number' && Number.isFinite(value) && value >= 0);
  return typeof said === 'number' ? said : heardMs;
}
