import type { WebSocketRequest } from '../../transport/transport.ts';
import type { JsonObject } from '../json-values.ts';
import { type InputChunk, inputChunks } from './input-chunks.ts';
import { InputPacer, type PacingFacts } from './input-pacer.ts';
import { base64, soundOf } from './live-session.ts';
import type { ConnectionTools } from './realtime-connection.ts';
import { responseIdOf } from './response-ledger.ts';
import type { ResponseOrigin } from './response-timings.ts';
import { SessionCore } from './session-core.ts';
import { SessionFault } from './session-fault.ts';

/** How a text is to be spoken. */
export type SpeechScript = {
  /** `session.update` without its id, as JSON. */
  readonly update: string;
  readonly text: string;
  /**
   * `native`: the model finds the text in its session and speaks while it hears silence. `turn`: the text is an item
   * and is answered.
   */
  readonly manner: 'native' | 'turn';
  /** What makes a turn's answer come: a request, or the end of the reference speech as the server hears it. */
  readonly trigger: 'explicit' | 'vad';
  /** Speech that a turn brings along, in the voice to answer with; empty = none. */
  readonly reference: Uint8Array;
  readonly sampleRateHz: number;
};

const handshakeS = 120;
/** Most silence that a model is given to speak over, s, and from which on the wait is worth a warning. */
const silenceBudgetS = 30;
const silenceWarningS = 12;
const responseLimitS = 180;
const closeLimitS = 30;
const pollMs = 50;
/** Longer than the silence that ends a turn for the server, s. */
const vadTailS = 1.5;

const nativeTexts = originTexts('first silence append send');
const itemTexts = originTexts('conversation.item.create send');
const referenceTexts = originTexts('end of reference speech');

/** One utterance: a session that says one text aloud. */
export class SpeechSession {
  readonly core: SessionCore;
  readonly #script: SpeechScript;
  readonly #pacer: InputPacer;
  /** Responses that were created and ended by a decision to listen. */
  readonly #listened = new Set<string>();
  #origin: ResponseOrigin | null = null;
  #turnEndMs: number | null = null;
  /** A response that was more than a decision to listen is done. */
  #answered = false;

  constructor(script: SpeechScript, tools: ConnectionTools) {
    this.#script = script;
    this.core = new SessionCore({
      tools,
      name: 'Realtime speech',
      plainServers: true,
      onEvent: (event) => this.#onEvent(event),
    });
    this.#pacer = new InputPacer(this.core, script.sampleRateHz);
  }

  /** What the utterance's times count from; `null` = it did not come to that. */
  get origin(): ResponseOrigin | null {
    return this.#origin;
  }

  /** When the response was complete; `null` = it never was. */
  get turnEndMs(): number | null {
    return this.#turnEndMs;
  }

  get pacing(): PacingFacts {
    return this.#pacer.facts();
  }

  /** The first response with sound. */
  get measured(): { readonly index: number; readonly id: string } | null {
    const { ledger } = this.core.log;
    const index = ledger.created.findIndex((id) => this.core.log.timingsOf(id).hasAudio);
    const id = ledger.created[index];
    return id === undefined ? null : { index, id };
  }

  /** @throws SessionFault for everything that can go wrong; the session is over in any case */
  async run(request: WebSocketRequest): Promise<void> {
    await this.core.run({ request, update: this.#script.update, handshakeS }, async () => {
      if (this.#script.manner === 'native') await this.#speakOverSilence();
      else await this.#takeTurn();
      await this.#awaitResponse();
      await this.core.close(closeLimitS);
      this.#judge();
    });
  }

  async #speakOverSilence(): Promise<void> {
    const { sampleRateHz } = this.#script;
    this.#origin = { fromMs: this.core.nowMs, texts: nativeTexts };
    const chunks = inputChunks(silenceBudgetS * sampleRateHz * 2, sampleRateHz, 0);
    const append = (chunk: InputChunk): void => this.#append(chunk, { is_speech: false });
    if (!(await this.#pacer.send(chunks, silenceBudgetS + responseLimitS, append, () => this.#answered)))
      throw uploadTimeout();
    const usedS = (this.core.nowMs - (this.#pacer.startMs ?? this.core.nowMs)) / 1000;
    if (usedS > silenceWarningS)
      this.core.log.warnings.add(
        `the response took more than ${silenceWarningS} s of silence before it was done`,
      );
  }

  async #takeTurn(): Promise<void> {
    const { connection } = this.core;
    const { text, reference, trigger } = this.#script;
    this.#origin = { fromMs: this.core.nowMs, texts: itemTexts };
    connection.send({
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
    });
    if (reference.byteLength > 0) await this.#playReference();
    if (trigger === 'vad') return;
    if (reference.byteLength > 0)
      connection.send({ type: 'input_audio_buffer.commit', final: true, response_create: false });
    connection.send({ type: 'response.create', response: { modalities: ['audio', 'text'] } });
  }

  async #playReference(): Promise<void> {
    const { reference, sampleRateHz, trigger } = this.#script;
    const bytesPerS = sampleRateHz * 2;
    const tailBytes = trigger === 'vad' ? vadTailS * bytesPerS : 0;
    const startMs = this.core.nowMs;
    const endMs = startMs + (reference.byteLength * 1000) / bytesPerS;
    this.#origin = { fromMs: endMs, texts: referenceTexts };
    const chunks = inputChunks(reference.byteLength + tailBytes, sampleRateHz, 0);
    const limitS = reference.byteLength / bytesPerS + responseLimitS;
    if (!(await this.#pacer.sendSaid(chunks, limitS, (chunk) => this.#append(chunk, {}))))
      throw uploadTimeout();
  }

  #append(chunk: InputChunk, more: JsonObject): void {
    this.core.connection.send({
      type: 'input_audio_buffer.append',
      audio: base64(soundOf(this.#script.reference, chunk)),
      input_audio_format: 'pcm16',
      sample_rate_hz: this.#script.sampleRateHz,
      duration_ms: chunk.durationMs,
      audio_end_ms: chunk.endMs,
      ...more,
    });
  }

  async #awaitResponse(): Promise<void> {
    const { core } = this;
    const deadlineMs = core.nowMs + responseLimitS * 1000;
    while (!(await core.connection.until(Math.min(core.nowMs + pollMs, deadlineMs), () => this.#answered))) {
      if (core.nowMs >= deadlineMs) throw new SessionFault('timeout', 'Timed out waiting for response.done');
      core.acknowledge(core.nowMs);
    }
    this.#turnEndMs = core.nowMs;
    core.acknowledgeAll();
  }

  #judge(): void {
    const { ledger } = this.core.log;
    const { measured } = this;
    if (measured === null) throw new SessionFault('empty', 'the response is done and brought no audio');
    if (ledger.isCancelled(measured.id))
      throw new SessionFault(
        'stream_error',
        `response.done reports cancellation for ${measured.id}: not all was said`,
      );
    const spoken = ledger.created.filter((id) => this.core.log.timingsOf(id).hasAudio).length;
    if (spoken === 1) return;
    if (this.#script.manner === 'turn')
      throw new SessionFault('malformed', `expected one response with audio, got ${spoken}`);
    this.core.log.warnings.add(`${spoken - 1} further responses with audio were not measured`);
  }

  #onEvent(event: JsonObject): void {
    const id = responseIdOf(event);
    if (id === null) return;
    if (event.type === 'response.listen') this.#listened.add(id);
    else if (event.type === 'response.done' && !this.#listened.has(id)) this.#answered = true;
  }
}

function originTexts(from: string): ResponseOrigin['texts'] {
  return {
    ttft: `${from} to first non-empty text delta`,
    ttfp: `${from} to first audio packet`,
    rtf: `${from} to last audio packet divided by emitted audio duration`,
  };
}

function uploadTimeout(): SessionFault {
  return new SessionFault('timeout', 'Realtime upload timed out: the network does not take the sound');
}
