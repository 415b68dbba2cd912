import { formatGeneral } from '../../foundation/python-format.ts';
import type { WebSocketRequest } from '../../transport/transport.ts';
import { asObject } from '../json-values.ts';
import { type Completion, ModelDecision, ServerTurns } from './completion.ts';
import {
  chunkPeriodMs,
  FrameItems,
  type FrameTransport,
  fittedFrames,
  frameTransport,
} from './frame-transport.ts';
import { type InputChunk, inputChunks, lengthWithResidual } from './input-chunks.ts';
import { InputPacer, type PacingFacts } from './input-pacer.ts';
import type { ConnectionTools } from './realtime-connection.ts';
import { SessionCore } from './session-core.ts';
import { SessionFault } from './session-fault.ts';

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

const handshakeLimitS = 20;
const pollMs = 50;
/** Silence that lets the server's voice detection end the last turn, s. */
const vadTailS = 1.5;

/**
 * One full-duplex session: handshake, input in real time, playback and its acks, the wait for the last word, and the
 * end. All time comes from the tools.
 */
export class LiveSession {
  readonly core: SessionCore;
  readonly #script: LiveScript;
  readonly #completion: Completion;
  readonly #pacer: InputPacer;
  readonly #items = new FrameItems();
  #frames: readonly (Uint8Array | null)[];
  #sentFrames = 0;

  constructor(script: LiveScript, tools: ConnectionTools) {
    this.#script = script;
    this.#frames = script.frames;
    this.#completion = script.serverVad ? new ServerTurns() : new ModelDecision();
    this.core = new SessionCore({
      tools,
      name: 'OmniInteract',
      onEvent: (event, timeMs) => this.#completion.onEvent(event, timeMs, this.core.log.ledger),
    });
    this.core.log.timing = false;
    this.#pacer = new InputPacer(this.core, script.sampleRateHz);
  }

  /** When the input began, ms on the run's clock; `null` = it did not. */
  get streamStartMs(): number | null {
    return this.#pacer.startMs;
  }

  get pacing(): PacingFacts & { readonly frames: number } {
    return { ...this.#pacer.facts(), frames: this.#sentFrames };
  }

  /** @throws SessionFault for everything that can go wrong; the session is over in any case */
  async run(request: WebSocketRequest): Promise<void> {
    const { timeoutS, update } = this.#script;
    const handshakeS = Math.min(timeoutS, handshakeLimitS);
    await this.core.run({ request, update, handshakeS }, async () => {
      await this.#stream();
      await this.#complete();
      await this.core.close(handshakeS);
      this.core.requireWhole();
    });
  }

  async #stream(): Promise<void> {
    const { pcm, sampleRateHz, serverVad, timeoutS } = this.#script;
    const { session } = this.core;
    const mode = frameTransport(asObject(session?.capabilities));
    if (mode === 'image_items') this.#frames = await fittedFrames(this.#frames);
    const bytesPerS = sampleRateHz * 2;
    const length = serverVad
      ? pcm.byteLength + vadTailS * bytesPerS
      : lengthWithResidual(pcm.byteLength, sampleRateHz, chunkPeriodMs(session));
    const limitS = timeoutS + pcm.byteLength / bytesPerS;
    const chunks = inputChunks(length, sampleRateHz, this.#frames.length);
    this.core.log.timing = true;
    if (!(await this.#pacer.send(chunks, limitS, (chunk) => this.#append(chunk, mode))))
      throw new SessionFault('timeout', `Realtime upload timed out after ${formatGeneral(limitS)}s`);
  }

  #append(chunk: InputChunk, mode: FrameTransport): void {
    const { connection } = this.core;
    const frames = chunk.frames.flatMap((index) => {
      const frame = this.#frames[index] ?? null;
      return frame === null ? [] : [base64(frame)];
    });
    this.#sentFrames += frames.length;
    if (mode === 'image_items')
      for (const frame of frames) for (const event of this.#items.eventsFor(frame)) connection.send(event);
    connection.send({
      type: 'input_audio_buffer.append',
      audio: base64(soundOf(this.#script.pcm, chunk)),
      input_audio_format: 'pcm16',
      sample_rate_hz: this.#script.sampleRateHz,
      duration_ms: chunk.durationMs,
      audio_end_ms: chunk.endMs,
      ...(mode === 'append' && frames.length > 0 ? { video_frames: frames } : {}),
    });
  }

  async #complete(): Promise<void> {
    const { core } = this;
    const { ledger } = core.log;
    if (!this.#script.serverVad) core.connection.send({ type: 'input_audio_buffer.commit', final: true });
    this.#completion.inputEnded(core.nowMs);
    const deadlineMs = core.nowMs + this.#script.timeoutS * 1000;
    for (;;) {
      const now = core.nowMs;
      core.acknowledge(now);
      if (this.#completion.isComplete(now, ledger)) break;
      if (now >= deadlineMs) throw new SessionFault('timeout', this.#completion.timeoutMessage(ledger));
      await core.connection.until(Math.min(now + pollMs, deadlineMs));
    }
    core.acknowledgeAll();
  }
}

/** The sound of a chunk; after the recording there is silence. */
export function soundOf(pcm: Uint8Array, { start, end }: InputChunk): Uint8Array {
  if (end <= pcm.byteLength) return pcm.subarray(start, end);
  const sound = new Uint8Array(end - start);
  if (start < pcm.byteLength) sound.set(pcm.subarray(start));
  return sound;
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
