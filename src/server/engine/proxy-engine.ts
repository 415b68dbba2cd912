import { UsageError } from '../../foundation/errors.ts';
import type { StageDefinition } from '../pipeline/pipeline-definition.ts';
import type { EngineContext } from './engine-factory.ts';
import { ProxyError } from './proxy-error.ts';
import { type ProxyOptions, readProxyOptions } from './proxy-options.ts';
import { checkSpeechHeaders, remoteSpeech, remoteSpeechBody } from './proxy-speech.ts';
import { remoteText, remoteTextBody } from './proxy-text.ts';
import type { EngineStats, StageEngine, StageListener, StageOutput, StageRequest } from './stage-engine.ts';

/** What a remote server gives to a stage; the rest of an output is the same for all. */
type RemoteOutput = Pick<StageOutput, 'units' | 'text' | 'audio' | 'finishReason' | 'stopReason'>;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** What kind of request is made for a stage, and how its reply is read. */
type RemoteKind = {
  readonly kind: StageEngine['kind'];
  /** Routes whose requests can be handed on. */
  readonly routes: readonly string[];
  body(request: StageRequest): Record<string, unknown>;
  read(bytes: AsyncIterable<Uint8Array>, headers: Headers): AsyncIterable<RemoteOutput>;
};

const mostErrorBytes = 64 * 1024;

function textStage(model: string): RemoteKind {
  return {
    kind: 'ar',
    routes: ['/v1/chat/completions', '/v1/completions'],
    body: (request) => remoteTextBody(request, model),
    async *read(bytes) {
      for await (const piece of remoteText(bytes)) yield { ...piece, audio: null };
    },
  };
}

function speechStage(model: string, sampleRateHz: number): RemoteKind {
  return {
    kind: 'generation',
    routes: ['/v1/audio/speech'],
    body: (request) => remoteSpeechBody(request, model),
    async *read(bytes, headers) {
      checkSpeechHeaders(headers, sampleRateHz);
      const same = { text: null, stopReason: null };
      for await (const audio of remoteSpeech(bytes, sampleRateHz))
        yield { ...same, units: audio.samples, audio, finishReason: null };
      yield { ...same, units: 0, audio: null, finishReason: 'stop' };
    },
  };
}

/** @throws UsageError for a stage whose work no such server does */
function remoteKind(stage: StageDefinition, model: string): RemoteKind {
  const isFirst = stage.inputSources.length === 0;
  if (stage.executionType === 'LLM_AR' && isFirst && stage.finalOutputType === 'text' && stage.role === null)
    return textStage(model);
  if (stage.executionType === 'LLM_GENERATION' && stage.finalOutputType === 'audio')
    return speechStage(model, stage.laws.speech.sampleRateHz);
  throw new UsageError(
    `Stage ${stage.stageId} (${stage.name}) cannot run on engine proxy: ` +
      'it takes a first stage that gives text, or a stage that gives speech.',
  );
}

async function beginningOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of bytes) {
    pieces.push(piece);
    length += piece.length;
    if (length >= mostErrorBytes) break;
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** Sends one request and reads its reply. @throws ProxyError, and what the connection throws */
async function* callRemote(
  remote: RemoteKind,
  options: ProxyOptions,
  request: StageRequest,
  signal: AbortSignal,
): AsyncGenerator<RemoteOutput> {
  const { source } = request;
  if (source === null || !remote.routes.includes(source.route))
    throw new ProxyError(
      501,
      `A stage on engine proxy cannot answer ${source?.route ?? 'this route'}; it answers ${remote.routes.join(', ')}.`,
    );
  // Loaded with the first request: most servers have no such stage.
  const { request: send } = await import('undici');
  const { statusCode, headers, body } = await send(`${options.origin}${source.route}`, {
    method: 'POST',
    headers: { accept: '*/*', ...options.headers, 'content-type': 'application/json' },
    body: JSON.stringify(remote.body(request)),
    headersTimeout: options.timeoutMs,
    bodyTimeout: options.timeoutMs,
    signal,
  });
  if (statusCode !== 200) throw ProxyError.fromBody(await beginningOf(body), statusCode);
  yield* remote.read(body, headers);
}

/** One request under way at the remote server, or waiting to be. */
class ProxySequence {
  readonly #request: StageRequest;
  readonly #listener: StageListener;
  readonly #left: (sequence: ProxySequence) => void;
  readonly #abort = new AbortController();

  constructor(request: StageRequest, listener: StageListener, left: (sequence: ProxySequence) => void) {
    this.#request = request;
    this.#listener = listener;
    this.#left = left;
  }

  /** The remote server has the whole request; what a stage before this one makes is nothing to it. */
  feed(): void {}

  abort(): void {
    if (this.#abort.signal.aborted) return;
    this.#abort.abort();
    this.#left(this);
  }

  async run(remote: RemoteKind, options: ProxyOptions, nowMs: () => number): Promise<void> {
    const { signal } = this.#abort;
    try {
      // Never heard of from inside `submit`.
      await Promise.resolve();
      for await (const output of callRemote(remote, options, this.#request, signal)) {
        if (signal.aborted) return;
        if (output.finishReason !== null) this.#left(this);
        const dueMs = nowMs();
        this.#listener.onOutput({ ...output, dueMs, artifact: null, kv: null, stepMs: 0 }, dueMs);
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#left(this);
      const { status, message } = ProxyError.from(error);
      this.#listener.onFailure({ status, message });
    }
  }
}

/**
 * A stage that is a remote server with the API of OpenAI: vLLM, SGLang, Ollama, or another embedded server. The
 * remote server keeps its own time and batches; at most `maxNumSeqs` requests are with it at once. One request's
 * trouble there is that request's alone.
 * @throws UsageError for bad options, and a stage whose work no such server does
 */
export function proxyEngine(stage: StageDefinition, { scheduler }: EngineContext): StageEngine {
  const options = readProxyOptions(stage, process.env);
  const remote = remoteKind(stage, options.model);
  const running = new Set<ProxySequence>();
  const waiting = new Set<ProxySequence>();

  const admit = (sequence: ProxySequence): void => {
    running.add(sequence);
    void sequence.run(remote, options, () => scheduler.nowMs());
  };
  const left = (sequence: ProxySequence): void => {
    waiting.delete(sequence);
    if (!running.delete(sequence)) return;
    const [next] = waiting;
    if (next === undefined) return;
    waiting.delete(next);
    admit(next);
  };

  return {
    kind: remote.kind,
    submit(request, listener) {
      const sequence = new ProxySequence(request, listener, left);
      if (running.size < stage.maxNumSeqs) admit(sequence);
      else waiting.add(sequence);
      return sequence;
    },
    stats: (): EngineStats => ({ running: running.size, waiting: waiting.size, waitingForChunk: 0 }),
    isAlive: () => true,
    close() {
      for (const sequence of [...waiting, ...running]) sequence.abort();
    },
  };
}
