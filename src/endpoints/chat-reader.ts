import { type EventKind, EventLogBuilder, eventKinds } from '../records/event-log.ts';
import type { ImageFacts } from '../records/request-record.ts';
import type { PcmDefaults } from './announced-layout.ts';
import { AudioChunks } from './audio-chunks.ts';
import { type Failure, failure, type ReplyReader } from './http-reply.ts';
import { ImageTally } from './image-tally.ts';
import { asArray, asObject, asText, type JsonObject } from './json-values.ts';
import { OutputTotal } from './output-total.ts';
import { ReplyFacts, streamedError } from './reply-facts.ts';
import { ReplyText } from './reply-text.ts';
import { TokenCounter } from './token-counter.ts';

export type ChatReaderOptions = {
  /** Format that audio chunks are encoded in. */
  readonly audioFormat: string;
  readonly pcm: PcmDefaults;
  /** Take token totals from `metrics` too, as omni servers report them. */
  readonly stageTokens: boolean;
};

/**
 * Reads a chat reply, streamed or whole: text, reasoning, tool calls, audio and images, usage and stage metrics.
 * The bytes were stamped before they came here.
 */
export class ChatReader implements ReplyReader {
  readonly events = new EventLogBuilder();
  readonly facts = new ReplyFacts();
  readonly audio: AudioChunks;
  readonly #images = new ImageTally();
  readonly #counter = new TokenCounter();
  readonly #total: OutputTotal;
  readonly #text = new ReplyText();
  #outputs = 0;
  #failure: Failure | null = null;
  /** When the same object comes again, only its text is new. */
  #lastRead: JsonObject | null = null;

  constructor(options: ChatReaderOptions) {
    this.#total = new OutputTotal(options.stageTokens);
    this.audio = new AudioChunks(options.audioFormat, options.pcm);
  }

  get text(): string {
    return this.#text.toString();
  }

  get image(): ImageFacts | null {
    return this.#images.facts(this.facts.stages);
  }

  get output(): ReturnType<OutputTotal['of']> {
    return this.#total.of(this.facts.stages);
  }

  onMessage(value: unknown, timeMs: number): void {
    const message = asObject(value);
    if (!message) return;
    if (message !== this.#lastRead) {
      if (this.#failed(message)) {
        this.events.append(timeMs, eventKinds.other, null, 0, null, 0);
        return;
      }
      this.#readTotals(message);
      this.#lastRead = message;
    }
    const choice = asObject(asArray(message.choices)[0]);
    if (!choice) {
      this.events.append(timeMs, message.usage ? eventKinds.usage : eventKinds.other, null, 0, null, 0);
      return;
    }
    if (typeof choice.finish_reason === 'string') this.facts.finishReason = choice.finish_reason;
    const delta = asObject(choice.delta) ?? {};
    switch (modalityOf(message, delta)) {
      case 'text':
        this.#textChunk(message, choice, delta, timeMs);
        break;
      case 'audio':
        this.#audioChunk(choice, delta, timeMs);
        break;
      case 'image':
        this.#imageChunk(delta, timeMs);
        break;
      default:
        this.events.append(timeMs, eventKinds.other, null, 0, null, 0);
    }
  }

  onWhole(value: unknown, timeMs: number): void {
    const message = asObject(value) ?? {};
    if (this.#failed(message)) return;
    this.#readTotals(message);
    for (const item of asArray(message.choices)) {
      const choice = asObject(item);
      const reply = asObject(choice?.message);
      if (typeof choice?.finish_reason === 'string') this.facts.finishReason = choice.finish_reason;
      if (!reply) continue;
      if (typeof reply.content === 'string' && reply.content !== '') {
        this.#text.append(reply.content);
        this.#outputs += 1;
      }
      if (typeof reply.content === 'object' && reply.content !== null) this.#countImages(reply.content);
      const audio = asText(asObject(reply.audio)?.data);
      if (audio) this.#countAudio(audio, choice);
      if (asArray(reply.tool_calls).length > 0 || reasoningOf(reply) !== '' || asText(reply.refusal))
        this.#outputs += 1;
    }
    this.events.append(
      timeMs,
      eventKinds.whole,
      null,
      Buffer.byteLength(this.text) + this.audio.bytes,
      null,
      0,
    );
  }

  finished(): boolean {
    return this.facts.finishReason !== null;
  }

  verdict(): Failure | null {
    if (this.#failure) return this.#failure;
    if (this.#outputs > 0 || this.#images.count > 0 || this.audio.holdsSound) return null;
    const { note } = this.audio;
    if (note !== null)
      return failure('malformed', `the reply is audio alone, and no chunk of it can be read: ${note}`, {
        status: 200,
      });
    return failure('empty', 'empty response: neither text nor audio nor an image was received', {
      status: 200,
    });
  }

  #failed(message: JsonObject): boolean {
    const error = streamedError(message);
    if (error === null) return false;
    this.#failure ??= failure('stream_error', error, { status: 200, body: JSON.stringify(message) });
    return true;
  }

  #readTotals(message: JsonObject): void {
    this.facts.read(message);
    this.#total.read(message);
  }

  #textChunk(message: JsonObject, choice: JsonObject, delta: JsonObject, timeMs: number): void {
    const { kind, text } = textOf(delta);
    const tokens = this.#counter.count(message, choice, kind !== eventKinds.empty);
    if (kind !== eventKinds.empty) this.#outputs += 1;
    const bytes = kind === eventKinds.text ? this.#text.append(text) : Buffer.byteLength(text);
    this.events.append(timeMs, kind, tokens, bytes, null, 0);
  }

  #audioChunk(choice: JsonObject, delta: JsonObject, timeMs: number): void {
    const payload = asText(delta.content) || asText(asObject(delta.audio)?.data) || '';
    const chunk = this.#countAudio(payload, choice);
    this.events.append(
      timeMs,
      chunk.bytes > 0 ? eventKinds.audio : eventKinds.empty,
      null,
      chunk.bytes,
      chunk.frames,
      0,
    );
  }

  #imageChunk(delta: JsonObject, timeMs: number): void {
    const bytes = this.#countImages(delta.content);
    this.events.append(
      timeMs,
      bytes === null ? eventKinds.empty : eventKinds.image,
      null,
      bytes ?? 0,
      null,
      0,
    );
  }

  #countAudio(base64: string, choice: JsonObject | null): ReturnType<AudioChunks['addBase64']> {
    return this.audio.addBase64(base64, asObject(choice?.audio_metadata)?.sample_rate_hz);
  }

  #countImages(content: unknown): number | null {
    return this.#images.add(Array.isArray(content) ? content : [content]);
  }
}

/** What a chunk holds; servers that name no modality are read by its content. */
function modalityOf(message: JsonObject, delta: JsonObject): unknown {
  if (typeof message.modality === 'string') return message.modality;
  if (Array.isArray(delta.content)) return 'image';
  return asText(asObject(delta.audio)?.data) ? 'audio' : 'text';
}

function reasoningOf(holder: JsonObject): string {
  return asText(holder.reasoning_content) || asText(holder.reasoning) || '';
}

function textOf(delta: JsonObject): { kind: EventKind; text: string } {
  const content = asText(delta.content) || asText(asObject(delta.audio)?.transcript) || '';
  if (content !== '') return { kind: eventKinds.text, text: content };
  const reasoning = reasoningOf(delta);
  if (reasoning !== '') return { kind: eventKinds.reasoning, text: reasoning };
  const calls = asArray(delta.tool_calls);
  if (calls.length > 0) return { kind: eventKinds.tool, text: JSON.stringify(calls) };
  const refusal = asText(delta.refusal) || '';
  return refusal === '' ? { kind: eventKinds.empty, text: '' } : { kind: eventKinds.refusal, text: refusal };
}
