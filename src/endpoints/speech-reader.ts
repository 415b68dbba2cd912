import { EventLogBuilder, eventKinds } from '../records/event-log.ts';
import { type AnnouncedLayout, layoutOfEvent, layoutOfHead, type PcmDefaults } from './announced-layout.ts';
import { decodeBase64 } from './decode-base64.ts';
import { type Failure, failure, type RawReader, type ReplyReader } from './http-reply.ts';
import { asObject, asText, positiveInteger } from './json-values.ts';
import { ReplyFacts, streamedError } from './reply-facts.ts';
import { SoundStream } from './sound-stream.ts';

export type SpeechReaderOptions = {
  /** `response_format` as it was asked for. */
  readonly format: string;
  /** A reply that was not streamed has no first packet and no gaps. */
  readonly streamed: boolean;
  readonly pcm: PcmDefaults;
};

/** Reads a speech reply: a body of audio, or `speech.audio.*` events that carry it. */
export class SpeechReader implements ReplyReader {
  readonly lastMessage = 'speech.audio.done';
  readonly events = new EventLogBuilder();
  readonly facts = new ReplyFacts();
  readonly raw: RawReader = {
    begin: (contentType, headers) => this.#begin(contentType, headers),
    onBytes: (bytes, timeMs) => this.#sound?.add(bytes, timeMs),
  };
  readonly #options: SpeechReaderOptions;
  /** Where chunks of an unstreamed reply leave their times, which mean nothing. */
  readonly #unseen = new EventLogBuilder();
  #sound: SoundStream | null = null;
  #lastMs = 0;
  #done = false;
  #failure: Failure | null = null;

  constructor(options: SpeechReaderOptions) {
    this.#options = options;
  }

  get audio(): SoundStream | undefined {
    return this.#sound ?? undefined;
  }

  onMessage(value: unknown, timeMs: number): void {
    const message = asObject(value);
    if (!message) return;
    this.#lastMs = timeMs;
    const error = streamedError(message);
    if (error !== null)
      this.#failure ??= failure('stream_error', error, { status: 200, body: JSON.stringify(message) });
    this.facts.read(message);
    if (message.type === this.lastMessage) this.#done = true;
    const payload = asText(message.audio) ?? asText(message.delta);
    if (payload === null || error !== null) {
      this.#sound?.end();
      this.events.append(timeMs, message.usage ? eventKinds.usage : eventKinds.other, null, 0, null, 0);
      return;
    }
    this.#sound ??= this.#open(
      asText(message.response_format) ?? this.#options.format,
      layoutOfEvent(message, this.#options.pcm),
    );
    const bytes = decodeBase64(payload);
    if (bytes === null)
      this.#failure ??= failure(
        'malformed',
        'an event of the stream carries audio whose base64 is cut or broken',
        {
          status: 200,
          body: JSON.stringify(message).slice(0, 16_384),
        },
      );
    else this.#sound.add(bytes, timeMs);
  }

  finished(): boolean {
    return this.#done;
  }

  onWhole(value: unknown): void {
    const message = asObject(value) ?? {};
    const error = streamedError(message) ?? 'the reply is JSON, expected audio';
    this.#failure = failure(streamedError(message) === null ? 'content_type' : 'stream_error', error, {
      status: 200,
      body: JSON.stringify(value).slice(0, 16_384),
    });
  }

  verdict(): Failure | null {
    this.#sound?.end();
    if (this.#failure) return this.#failure;
    const fault = this.#sound?.fault ?? null;
    if (fault !== null) return failure('malformed', fault, { status: 200 });
    if (this.#sound?.holdsSound) return null;
    return failure('empty', 'empty response: the reply holds no audio', { status: 200 });
  }

  /** The body has ended, at this time. */
  finish(endMs: number | null): void {
    this.#sound?.end();
    if (!this.#options.streamed && this.#sound)
      this.events.append(endMs ?? this.#lastMs, eventKinds.whole, null, this.#sound.bytes, null, 0);
  }

  #begin(contentType: string, headers: ReadonlyMap<string, string>): boolean {
    const format = formatOf(contentType, this.#options.format);
    if (format === null) return false;
    this.#sound = this.#open(format, layoutOfHead(contentType, headers, this.#options.pcm));
    const inputTokens = positiveInteger(headers.get('x-vllm-omni-input-tokens'));
    if (inputTokens !== null) this.facts.usage = { input_tokens: inputTokens };
    return true;
  }

  #open(format: string, announced: AnnouncedLayout): SoundStream {
    return new SoundStream(format, announced, this.#options.streamed ? this.events : this.#unseen);
  }
}

const formatsByType: Readonly<Record<string, string>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/vnd.wave': 'wav',
  'audio/pcm': 'pcm',
  'audio/l16': 'pcm',
  'audio/raw': 'pcm',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
  'audio/flac': 'flac',
  'audio/x-flac': 'flac',
  'audio/ogg': 'opus',
  'audio/opus': 'opus',
  'audio/aac': 'aac',
};

/** What a body of this type holds; types that name no format are taken as what was asked for. `null` = no audio. */
function formatOf(contentType: string, asked: string): string | null {
  const type = contentType.split(';')[0]?.trim() ?? '';
  if (type === '' || type === 'application/octet-stream') return asked;
  return formatsByType[type] ?? (type.startsWith('audio/') ? type.slice('audio/'.length) : null);
}
