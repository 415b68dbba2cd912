import type { FastifyInstance } from 'fastify';
import { nowMs } from '../../foundation/clock.ts';
import { type AudioFormat, encodeAudio } from '../../media/encode-audio.ts';
import { type SpeechSession, speechSessionSchema } from '../../protocol/speech.ts';
import type { PcmAudio } from '../engine/stage-engine.ts';
import type { ApiContext } from './api-context.ts';
import { requireCapability } from './model-routes.ts';
import { checkModel, parseBody } from './request-body.ts';
import { RequestError } from './request-error.ts';
import { SentenceSplitter } from './sentence-splitter.ts';
import { socketRoute } from './socket-route.ts';
import { SocketSession } from './socket-session.ts';
import { soundOf } from './speech.ts';
import { speechRateHz, speechRun } from './speech-plan.ts';
import type { VoiceStore } from './voice-store.ts';

/** Most text of one message, characters. */
const mostTextChars = 1_000_000;

/** Speech from text that arrives in pieces: each sentence is spoken as soon as it is complete, in order. */
class SpeechSocket {
  readonly #context: ApiContext;
  readonly #voices: VoiceStore;
  readonly #session: SocketSession;
  readonly #splitter = new SentenceSplitter();
  #config: SpeechSession = {};
  #utterance = 0;
  #sentences = 0;
  /** Ends with the last sentence so far. */
  #spoken: Promise<void> = Promise.resolve();

  constructor(context: ApiContext, voices: VoiceStore, session: SocketSession) {
    this.#context = context;
    this.#voices = voices;
    this.#session = session;
  }

  /** @throws RequestError for what is malformed; the connection stays */
  handle(message: Readonly<Record<string, unknown>>): void {
    switch (message.type) {
      case 'session.config':
        this.#configure(message);
        return;
      case 'input.text':
        this.#text(message.text);
        return;
      case 'input.done':
        this.#done();
        return;
      case 'session.close':
        this.#session.end(1000, 'closed by the client');
        return;
      default:
        throw new RequestError(
          400,
          `Unknown message type ${JSON.stringify(message.type)}; expected session.config, input.text, input.done ` +
            'or session.close.',
          'type',
        );
    }
  }

  #configure(message: Readonly<Record<string, unknown>>): void {
    if (this.#splitter.holdsText || this.#sentences > 0)
      throw new RequestError(
        400,
        'session.config is not taken while text is buffered; send input.done first.',
      );
    const config = parseBody(speechSessionSchema, message);
    checkModel(config.model, this.#context);
    if (config.stream_audio === true && !['pcm', 'wav'].includes(config.response_format ?? 'pcm'))
      throw new RequestError(400, 'stream_audio needs response_format pcm or wav.', 'response_format');
    this.#config = config;
  }

  #text(text: unknown): void {
    if (typeof text !== 'string') throw new RequestError(400, 'input.text needs "text".', 'text');
    if (text.length > mostTextChars) throw new RequestError(413, 'The text is too long.', 'text');
    for (const sentence of this.#splitter.push(text)) this.#say(sentence);
  }

  #done(): void {
    const rest = this.#splitter.flush();
    if (rest !== null) this.#say(rest);
    const utterance = this.#utterance;
    const total = this.#sentences;
    this.#utterance += 1;
    this.#sentences = 0;
    this.#spoken = this.#spoken.then(() =>
      this.#session.send('finish', {
        type: 'session.done',
        utterance_index: utterance,
        total_sentences: total,
      }),
    );
  }

  #say(sentence: string): void {
    const place = { utterance_index: this.#utterance, sentence_index: this.#sentences };
    const config = this.#config;
    this.#sentences += 1;
    this.#spoken = this.#spoken.then(() => this.#speak(sentence, place, config));
  }

  async #speak(
    sentence: string,
    place: { readonly utterance_index: number; readonly sentence_index: number },
    config: SpeechSession,
  ): Promise<void> {
    if (this.#session.closed) return;
    const streamed = config.stream_audio === true;
    const format: AudioFormat = config.response_format ?? (streamed ? 'pcm' : 'wav');
    const sampleRate = speechRateHz(this.#context);
    let bytes = 0;
    let failed = false;
    const send = (chunk: Buffer, samples: number): void => {
      bytes += chunk.length;
      this.#session.sendBytes(chunk, { samples });
    };
    const encode = ({ pcm, sampleRateHz }: PcmAudio): Promise<Buffer> =>
      encodeAudio(pcm, { sampleRateHz, channels: 1 }, format);
    this.#session.send('role', {
      type: 'audio.start',
      ...place,
      sentence_text: sentence,
      format,
      sample_rate: sampleRate,
    });
    try {
      const { run } = await speechRun(sentence, config, this.#context, this.#voices);
      let sent: Promise<void> = Promise.resolve();
      const collected = await this.#session.run(run, nowMs(), {
        onOutput: (_stage, { audio }) => {
          if (!streamed || audio === null || audio.samples === 0) return;
          sent = sent.then(async () => send(await encode(audio), audio.samples));
        },
      });
      await sent;
      const sound = soundOf(collected);
      if (!streamed) send(await encode(sound), sound.samples);
    } catch (error) {
      failed = true;
      this.#session.error(error);
    }
    this.#session.send('finish', { type: 'audio.done', ...place, total_bytes: bytes, error: failed });
  }
}

/** `WS /v1/audio/speech/stream` */
export function speechSocketRoute(app: FastifyInstance, context: ApiContext, voices: VoiceStore): void {
  socketRoute(app, '/v1/audio/speech/stream', (socket, request) => {
    const session = new SocketSession(context, socket, request);
    try {
      requireCapability(context, 'speech');
    } catch (error) {
      session.error(error);
      session.end(1008, 'not supported by this model');
      return;
    }
    const speech = new SpeechSocket(context, voices, session);
    session.onMessage((message) => speech.handle(message));
  });
}
