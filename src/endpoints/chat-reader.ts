import { type EventKind, EventLogBuilder, eventKinds } from '../records/event-log.ts';
import type { ImageFacts, StageSnapshot } from '../records/request-record.ts';
import { AudioChunks, type PcmDefaults } from './audio-chunks.ts';
import { type Failure, failure, type ReplyReader } from './http-reply.ts';
import { ImageTally } from './image-tally.ts';
import { asArray, asObject, asText, type JsonObject, positiveInteger } from './json-values.ts';
import { ReplyFacts, streamedError } from './reply-facts.ts';
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
  readonly #options: ChatReaderOptions;
  #text: string[] = [];
  #outputs = 0;
  #failure: Failure | null = null;
  #usageTokens: number | null = null;
  #metricsTokens: number | null = null;

  constructor(options: ChatReaderOptions) {
    this.#options = options;
    this.audio = new AudioChunks(options.audioFormat, options.pcm);
  }

  get text(): string {
    return this.#text.join('');
  }

  get image(): ImageFacts | null {
    return this.#images.facts(this.facts.stages);
  }

  /**
   * Usage, metrics and the text stage never lower the count; where several speak, the largest holds. Other stages count
   * codec frames and the like: they stand in only where nothing else spoke.
   */
  get output(): { tokens: number | null; source: 'usage' | 'stage' | null } {
    const usage = this.#usageTokens;
    const stages = this.#options.stageTokens ? stageTokens(this.facts.stages) : { text: null, other: null };
    const stage = larger(this.#metricsTokens, stages.text) ?? (usage === null ? stages.other : null);
    if (stage !== null && stage > (usage ?? 0)) return { tokens: stage, source: 'stage' };
    return { tokens: usage, source: usage === null ? null : 'usage' };
  }

  onMessage(value: unknown, timeMs: number): void {
    const message = asObject(value);
    if (!message) return;
    if (this.#failed(message)) {
      this.events.append(timeMs, eventKinds.other, null, 0, null, 0);
      return;
    }
    this.#readTotals(message);
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
      if (typeof reply.content === 'string' && reply.content !== '') this.#addText(reply.content);
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

  verdict(): Failure | null {
    if (this.#failure) return this.#failure;
    if (this.#outputs > 0 || this.#images.count > 0 || this.audio.bytes > 0) return null;
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
    const usage = positiveInteger((message.usage as JsonObject | null | undefined)?.completion_tokens);
    if (usage !== null) this.#usageTokens = Math.max(this.#usageTokens ?? 0, usage);
    const metrics = this.#options.stageTokens ? asObject(message.metrics) : null;
    const type = metrics?.final_output_type;
    if (metrics && (type === 'text' || type === undefined || type === null)) {
      this.#metricsTokens = larger(this.#metricsTokens, positiveInteger(metrics.num_tokens_out));
    }
  }

  #textChunk(message: JsonObject, choice: JsonObject, delta: JsonObject, timeMs: number): void {
    const { kind, text } = textOf(delta);
    const tokens = this.#counter.count(message, choice, kind !== eventKinds.empty);
    if (kind === eventKinds.text) this.#addText(text);
    else if (kind !== eventKinds.empty) this.#outputs += 1;
    this.events.append(timeMs, kind, tokens, Buffer.byteLength(text), null, 0);
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

  #addText(text: string): void {
    this.#text.push(text);
    this.#outputs += 1;
  }

  #countAudio(base64: string, choice: JsonObject | null): ReturnType<AudioChunks['addBase64']> {
    const announced = positiveInteger(asObject(choice?.audio_metadata)?.sample_rate_hz);
    return this.audio.addBase64(base64, announced);
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

function larger(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.max(a, b);
}

/** Output tokens by the stage snapshots: the first text stage's, and the largest of the others. Never a sum. */
function stageTokens(stages: Readonly<Record<string, StageSnapshot>>): {
  text: number | null;
  other: number | null;
} {
  let text: number | null = null;
  let other: number | null = null;
  for (const stage of Object.values(stages)) {
    const tokens = positiveInteger(stage.num_tokens_out);
    if (stage.final_output_type === 'text' || stage.output_unit_type === 'token') text ??= tokens;
    else other = larger(other, tokens);
  }
  return { text, other };
}
