import { formatGeneral } from '../../foundation/python-format.ts';
import type { WebSocketRequest } from '../../transport/transport.ts';
import { asObject, asText, type JsonObject } from '../json-values.ts';
import { errorText } from './audio-delta.ts';
import { type Completion, ModelDecision, pythonList, ServerTurns } from './completion.ts';
import {
  chunkPeriodMs,
  FrameItems,
  type FrameTransport,
  fittedFrames,
  frameTransport,
  sessionIdOf,
} from './frame-transport.ts';
import { type InputChunk, inputChunks, lengthWithResidual } from './input-chunks.ts';
import { PlaybackAcks } from './playback-acks.ts';
import { type ConnectionTools, RealtimeConnection } from './realtime-connection.ts';
import { SessionFault } from './session-fault.ts';
import { SessionLog } from './session-log.ts';

/** A session as it is to be held. */
export type LiveScript = {
  /** `session.update` without its id, as JSON. */
  readonly update: string;
  readonly pcm: Uint8Array;
  readonly sampleRateHz: number;
  readonly frames: readonly (Uint8Array | null)[];
  /** Turns are found by the server's voice detection instead of the model. */
  readonly serverVad: boolean;
  /** Limit of each wait, s. */
  readonly timeoutS: number;
};

/** How late the input left. */
export type PacingFacts = {
  chunks: number;
  frames: number;
  meanLagMs: number;
  maxLagMs: number;
};

const handshakeLimitS = 20;
const pollMs = 50;
/** Silence that lets the server's voice detection end the last turn, s. */
const vadTailS = 1.5;
/** How long a server may take to confirm the end of a session that has failed, ms. */
const failedCloseMs = 2000;
const toleratedErrors: ReadonlySet<string | null> = new Set([
  'playback_ack_too_late',
  'playback_item_not_found',
]);

/**
 * One full-duplex session: handshake, input in real time, playback and its acks, the wait for the last word, and the
 * end. All time comes from the tools.
 */
export class LiveSession {
  readonly log = new SessionLog('OmniInteract');
  readonly connection: RealtimeConnection;
  readonly startMs: number;
  /** When the session's end was confirmed, or it failed. */
  endMs: number;
  readonly pacing: PacingFacts = { chunks: 0, frames: 0, meanLagMs: 0, maxLagMs: 0 };
  readonly #script: LiveScript;
  readonly #tools: ConnectionTools;
  readonly #acks = new PlaybackAcks(this.log.queue);
  readonly #completion: Completion;
  readonly #items = new FrameItems();
  #frames: readonly (Uint8Array | null)[];
  #session: JsonObject | null = null;
  #streamStartMs: number | null = null;
  #closing = false;
  /** The session is over on the server, asked for or not. */
  #over = false;
  /** It is over because this client asked for it. */
  #confirmed = false;

  constructor(script: LiveScript, tools: ConnectionTools) {
    this.#script = script;
    this.#tools = tools;
    this.#frames = script.frames;
    this.startMs = tools.clock.nowMs();
    this.endMs = this.startMs;
    this.#completion = script.serverVad ? new ServerTurns() : new ModelDecision();
    this.connection = new RealtimeConnection(tools, (event, timeMs) => this.#onEvent(event, timeMs));
  }

  get serverSessionId(): string | null {
    return sessionIdOf(this.#session);
  }

  /** When the input began, ms on the run's clock. */
  get streamStartMs(): number | null {
    return this.#streamStartMs;
  }

  /** @throws SessionFault for everything that can go wrong; the session is over in any case */
  async run(request: WebSocketRequest): Promise<void> {
    try {
      await this.#open(request);
      await this.#stream();
      await this.#complete();
      await this.#close();
      this.endMs = this.#tools.clock.nowMs();
    } catch (error) {
      this.endMs = this.#tools.clock.nowMs();
      await this.#abandon();
      throw error;
    } finally {
      const ignored = this.connection.ignoredMessages;
      if (ignored > 0) this.log.warnings.add(`ignored ${ignored} messages that are no JSON objects`);
      this.connection.close();
    }
  }

  async #open(request: WebSocketRequest): Promise<void> {
    await this.connection.open(request);
    this.connection.sendStamped(this.#script.update);
    const limitS = Math.min(this.#script.timeoutS, handshakeLimitS);
    const deadlineMs = this.#tools.clock.nowMs() + limitS * 1000;
    if (!(await this.connection.until(deadlineMs, () => this.#session !== null)))
      throw new SessionFault('timeout', 'Timed out waiting for session.created');
  }

  async #stream(): Promise<void> {
    const { pcm, sampleRateHz, serverVad, timeoutS } = this.#script;
    const mode = frameTransport(asObject(this.#session?.capabilities));
    if (mode === 'image_items') this.#frames = await fittedFrames(this.#frames);
    const bytesPerMs = (sampleRateHz * 2) / 1000;
    const length = serverVad
      ? pcm.byteLength + vadTailS * sampleRateHz * 2
      : lengthWithResidual(pcm.byteLength, sampleRateHz, chunkPeriodMs(this.#session));
    const startMs = this.#tools.clock.nowMs();
    this.#streamStartMs = startMs;
    const limitS = timeoutS + pcm.byteLength / (bytesPerMs * 1000);
    let lagSumMs = 0;
    for (const chunk of inputChunks(length, sampleRateHz, this.#frames.length)) {
      if (!(await this.connection.drained(startMs + limitS * 1000)))
        throw new SessionFault('timeout', `Realtime upload timed out after ${formatGeneral(limitS)}s`);
      const lagMs = Math.max(0, this.#tools.clock.nowMs() - startMs - chunk.start / bytesPerMs);
      this.#append(chunk, mode);
      lagSumMs += lagMs;
      this.pacing.chunks += 1;
      this.pacing.meanLagMs = lagSumMs / this.pacing.chunks;
      this.pacing.maxLagMs = Math.max(this.pacing.maxLagMs, lagMs);
      this.#acknowledge(this.#tools.clock.nowMs());
      await this.connection.until(startMs + chunk.endMs);
    }
  }

  #append(chunk: InputChunk, mode: FrameTransport): void {
    const frames = chunk.frames.flatMap((index) => {
      const frame = this.#frames[index] ?? null;
      return frame === null ? [] : [base64(frame)];
    });
    this.pacing.frames += frames.length;
    if (mode === 'image_items')
      for (const frame of frames)
        for (const event of this.#items.eventsFor(frame)) this.connection.send(event);
    this.connection.send({
      type: 'input_audio_buffer.append',
      audio: base64(this.#sound(chunk)),
      input_audio_format: 'pcm16',
      sample_rate_hz: this.#script.sampleRateHz,
      duration_ms: chunk.durationMs,
      audio_end_ms: chunk.endMs,
      ...(mode === 'append' && frames.length > 0 ? { video_frames: frames } : {}),
    });
  }

  /** After the recording there is silence. */
  #sound({ start, end }: InputChunk): Uint8Array {
    const { pcm } = this.#script;
    if (end <= pcm.byteLength) return pcm.subarray(start, end);
    const sound = new Uint8Array(end - start);
    if (start < pcm.byteLength) sound.set(pcm.subarray(start));
    return sound;
  }

  async #complete(): Promise<void> {
    const { clock } = this.#tools;
    const { ledger } = this.log;
    if (!this.#script.serverVad) this.connection.send({ type: 'input_audio_buffer.commit', final: true });
    this.#completion.inputEnded(clock.nowMs());
    const deadlineMs = clock.nowMs() + this.#script.timeoutS * 1000;
    for (;;) {
      const now = clock.nowMs();
      this.#acknowledge(now);
      if (this.#completion.isComplete(now, ledger)) break;
      if (now >= deadlineMs) throw new SessionFault('timeout', this.#completion.timeoutMessage(ledger));
      await this.connection.until(Math.min(now + pollMs, deadlineMs));
    }
    // What is still in the queue counts as played; nobody waits for it.
    this.#acknowledge(Math.max(clock.nowMs(), this.log.queue.endMs));
  }

  async #close(): Promise<void> {
    this.#closing = true;
    this.connection.send({ type: 'session.close' });
    const limitS = Math.min(this.#script.timeoutS, handshakeLimitS);
    const deadlineMs = this.#tools.clock.nowMs() + limitS * 1000;
    if (!(await this.connection.until(deadlineMs, () => this.#confirmed)))
      throw new SessionFault('timeout', 'Timed out waiting for session.closed');
    const stray = this.log.stray();
    if (stray !== null) throw new SessionFault('malformed', stray);
    const unfinished = this.log.ledger.unfinished();
    if (unfinished.length > 0)
      throw new SessionFault('malformed', `unfinished response_ids: ${pythonList(unfinished)}`);
  }

  /** Asks for the session's end also after a failure, so that its place on the server is free for the next. */
  async #abandon(): Promise<void> {
    if (!this.connection.isOpen || this.#over) return;
    this.#closing = true;
    this.connection.send({ type: 'session.close' });
    if (this.#tools.stop.stopped) return;
    await this.connection.linger(this.#tools.clock.nowMs() + failedCloseMs, () => this.#over);
  }

  #acknowledge(nowMs: number): void {
    for (const { responseId, playedMs } of this.#acks.due(nowMs))
      this.connection.send({
        type: 'playback.ack',
        played_ms: playedMs,
        committed_ms: playedMs,
        response_id: responseId,
        item_id: `item_${responseId}`,
      });
  }

  #onEvent(event: JsonObject, timeMs: number): void {
    if (this.#over) return;
    if (event.type === 'session.created' && this.#session === null) {
      this.#session = asObject(event.session) ?? {};
      this.log.journal.append({ type: 'session.created', session: this.#session }, timeMs);
      return;
    }
    if (event.type === 'error') this.#onError(event);
    if (event.type === 'session.closed' || event.type === 'session.expired') this.#onClosed(event);
    this.log.take(event, timeMs);
    this.#completion.onEvent(event, timeMs, this.log.ledger);
  }

  #onError(event: JsonObject): void {
    const { code, text } = errorText(event);
    if (this.#session !== null && toleratedErrors.has(code))
      this.log.warnings.add(`tolerated in-flight server rejection: ${code}`);
    // A session that is being closed has nothing left that an error could spoil.
    else if (!this.#closing)
      throw new SessionFault('stream_error', text, JSON.stringify(event).slice(0, 16 * 1024));
  }

  #onClosed(event: JsonObject): void {
    const reason = asText(event.reason) ?? asText(asObject(event.event)?.reason);
    this.connection.endAcknowledging();
    this.#over = true;
    const isOwn =
      this.#closing && event.type === 'session.closed' && (reason === null || reason === 'client_close');
    this.#confirmed = isOwn;
    if (isOwn) return;
    const text = this.#closing
      ? `Unexpected ${event.type}: ${reason ?? 'no reason'}`
      : `${event.type}: ${reason ?? 'no reason'}`;
    throw new SessionFault('stream_error', text, JSON.stringify(event).slice(0, 16 * 1024));
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
