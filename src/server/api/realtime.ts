import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import { nowMs } from '../../foundation/clock.ts';
import { serveDuplexSocket } from '../duplex/duplex-socket.ts';
import type { ApiContext } from './api-context.ts';
import { decodeBase64 } from './media-source.ts';
import { requireCapability, stageIdsGiving } from './model-routes.ts';
import { checkModel } from './request-body.ts';
import { RequestError } from './request-error.ts';
import { socketRoute } from './socket-route.ts';
import { SocketSession } from './socket-session.ts';
import { paramsOfStages } from './stage-params.ts';

/** Input is 16-bit mono at this rate. */
const inputRateHz = 16000;
/** Prompt tokens per second of speech that comes in. */
const tokensPerS = 12.5;

/** Prompt tokens of so much input. */
function tokensOf(bytes: number): number {
  return Math.round((bytes / 2 / inputRateHz) * tokensPerS);
}

/** Turns: audio comes in, and when it is complete text and speech go out. */
class RealtimeTurns {
  readonly #context: ApiContext;
  readonly #session: SocketSession;
  #inputBytes = 0;
  /** Of the input, what the model has read while it came in. */
  #readBytes = 0;
  /** The model reads input as it comes. */
  #listening = false;
  #answering = false;

  constructor(context: ApiContext, session: SocketSession) {
    this.#context = context;
    this.#session = session;
  }

  /** @throws RequestError for what is malformed; the connection stays */
  handle(message: Readonly<Record<string, unknown>>): void {
    switch (message.type) {
      case 'session.update':
        this.#update(message);
        return;
      case 'input_audio_buffer.append':
        this.#append(message.audio);
        return;
      case 'input_audio_buffer.clear':
        this.#empty();
        return;
      case 'input_audio_buffer.commit':
        this.#commit(message.final);
        return;
      default:
        throw new RequestError(
          400,
          `Unknown event type ${JSON.stringify(message.type)}; expected session.update, ` +
            'input_audio_buffer.append, .commit or .clear.',
          'type',
        );
    }
  }

  #update(message: Readonly<Record<string, unknown>>): void {
    const inner =
      typeof message.session === 'object' && message.session !== null ? { ...message.session } : {};
    const model = message.model ?? ('model' in inner ? inner.model : undefined);
    if (model !== undefined && model !== null && typeof model !== 'string')
      throw new RequestError(400, 'model must be a text.', 'model');
    checkModel(model, this.#context);
  }

  #append(audio: unknown): void {
    if (typeof audio !== 'string')
      throw new RequestError(
        400,
        'input_audio_buffer.append needs "audio": base64 of 16-bit samples.',
        'audio',
      );
    const bytes = decodeBase64(audio, 'audio', this.#context.limits.mediaBytes).length;
    if (bytes % 2 !== 0) throw new RequestError(400, 'audio: not whole samples of 16 bits.', 'audio');
    // All but the latest piece has been read when that comes.
    if (this.#listening) this.#readBytes = this.#inputBytes;
    this.#inputBytes += bytes;
    if (this.#inputBytes > this.#context.limits.mediaBytes) {
      this.#empty();
      throw new RequestError(413, 'audio: the buffer is too large; it has been emptied.', 'audio');
    }
  }

  #commit(final: unknown): void {
    if (final !== true) {
      // Generation begins over what still comes in; the answer begins when that is complete.
      this.#listening = true;
      this.#readBytes = this.#inputBytes;
      return;
    }
    if (this.#answering) throw new RequestError(409, 'A turn is being answered.');
    if (this.#inputBytes === 0) throw new RequestError(400, 'The audio buffer is empty.', 'audio');
    const promptTokens = Math.max(1, tokensOf(this.#inputBytes));
    const readTokens = Math.min(promptTokens, tokensOf(this.#readBytes));
    this.#empty();
    this.#answering = true;
    void this.#answer(promptTokens, readTokens).finally(() => {
      this.#answering = false;
    });
  }

  #empty(): void {
    this.#inputBytes = 0;
    this.#readBytes = 0;
    this.#listening = false;
  }

  async #answer(promptTokens: number, readTokens: number): Promise<void> {
    const request = {
      promptTokens,
      readTokens,
      finalStageIds: stageIdsGiving(this.#context, 'text', 'audio'),
      params: paramsOfStages(this.#context.pipeline, {}, null),
      initialChunkFrames: null,
      keepGaps: false,
    };
    try {
      let said = '';
      const { sounds } = await this.#session.run(request, nowMs(), {
        onOutput: (stage, { text: delta, units, audio, finishReason }, run) => {
          if (stage.finalOutputType === 'text') {
            said += delta ?? '';
            if (delta !== null && delta !== '')
              this.#session.send('text', { type: 'transcription.delta', delta }, { tokens: units });
            if (finishReason !== null) this.#transcriptionDone(said, promptTokens, run.completionTokens());
          }
          if (audio === null || audio.samples === 0) return;
          this.#session.send(
            'audio',
            {
              type: 'response.audio.delta',
              audio: audio.pcm.toString('base64'),
              sample_rate_hz: audio.sampleRateHz,
            },
            { samples: audio.samples },
          );
        },
      });
      if (sounds.length > 0) this.#session.send('finish', { type: 'response.audio.done' });
    } catch (error) {
      if (!this.#session.closed) this.#session.error(error);
    }
  }

  #transcriptionDone(text: string, promptTokens: number, tokens: number): void {
    this.#session.send('usage', {
      type: 'transcription.done',
      text,
      usage: { prompt_tokens: promptTokens, completion_tokens: tokens, total_tokens: promptTokens + tokens },
    });
  }
}

/** What the address asks for: full duplex, turns, or nothing in particular. */
function askedFor(query: unknown): 'duplex' | 'turns' | null {
  if (typeof query !== 'object' || query === null || !('duplex' in query)) return null;
  const value = String(query.duplex).toLowerCase();
  if (['1', 'true', 'on'].includes(value)) return 'duplex';
  return ['0', 'false', 'off'].includes(value) ? 'turns' : null;
}

function serveTurns(
  context: ApiContext,
  socket: WebSocket,
  request: FastifyRequest,
  asksForDuplex: boolean,
): void {
  const session = new SocketSession(context, socket, request);
  try {
    requireCapability(context, 'realtime');
    if (asksForDuplex)
      throw new RequestError(
        400,
        'This server speaks in turns; duplex sessions are not available.',
        'duplex',
      );
    if (context.duplex !== null)
      throw new RequestError(400, 'Realtime API is not available: this deployment is full duplex.', 'duplex');
  } catch (error) {
    session.error(error);
    session.end(1008, 'not supported');
    return;
  }
  const turns = new RealtimeTurns(context, session);
  session.onMessage((message) => turns.handle(message));
  session.send('role', {
    type: 'session.created',
    id: `sess-${randomUUID()}`,
    created: Math.floor(Date.now() / 1000),
    model: context.servedModelName,
  });
}

/** `WS /v1/realtime`, in turns or full duplex as deployed, and `WS /v1/duplex`. */
export function realtimeRoute(app: FastifyInstance, context: ApiContext): void {
  socketRoute(app, '/v1/realtime', (socket, request) => {
    const asked = askedFor(request.query);
    if (context.duplex === null || asked === 'turns')
      serveTurns(context, socket, request, asked === 'duplex');
    else serveDuplexSocket(context, context.duplex, socket, request);
  });
  socketRoute(app, '/v1/duplex', (socket, request) => {
    if (context.duplex === null) serveTurns(context, socket, request, true);
    else serveDuplexSocket(context, context.duplex, socket, request);
  });
}
