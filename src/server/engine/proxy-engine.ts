import { UsageError } from '../../foundation/errors.ts';
import type { StageDefinition } from '../pipeline/pipeline-definition.ts';
import type { DiffusionDefaults } from './diffusion-plan.ts';
import type { EngineContext } from './engine-factory.ts';
import { type RemoteCall, remoteCall, wholeBody } from './proxy-call.ts';
import { ProxyError } from './proxy-error.ts';
import { type ProxyOptions, readProxyOptions } from './proxy-options.ts';
import { remoteImages, remoteVideo } from './proxy-pictures.ts';
import { checkSpeechHeaders, remoteSpeech, remoteSpeechBody } from './proxy-speech.ts';
import { remoteText, remoteTextBody } from './proxy-text.ts';
import type {
  EngineStats,
  StageEngine,
  StageListener,
  StageOutput,
  StageProgress,
  StageRequest,
} from './stage-engine.ts';
import type { RequestSource } from './stage-task.ts';

/** What a remote server gives to a stage; the rest of an output is the same for all. */
type RemoteOutput = Pick<
  StageOutput,
  'units' | 'text' | 'audio' | 'artifact' | 'finishReason' | 'stopReason'
>;

/** What a request is answered with, beside the request itself. */
type RemoteContext = {
  readonly options: ProxyOptions;
  readonly call: RemoteCall;
  readonly signal: AbortSignal;
  readonly nowMs: () => number;
  readonly tell: (progress: StageProgress) => void;
};

/** What kind of request is made for a stage, and how its reply is read. */
type RemoteKind = {
  readonly kind: StageEngine['kind'];
  /** Sends a request and reads its reply. @throws ProxyError, and what the connection throws */
  answer(request: StageRequest, context: RemoteContext): AsyncIterable<RemoteOutput>;
};

/** The request as it came by one of these routes. @throws ProxyError for one that came by another */
function sourceOf({ source }: StageRequest, routes: readonly string[]): RequestSource {
  if (source !== null && routes.includes(source.route)) return source;
  throw new ProxyError(
    501,
    `A stage on engine proxy cannot answer ${source?.route ?? 'this route'}; it answers ${routes.join(', ')}.`,
  );
}

function textStage(model: string): RemoteKind {
  return {
    kind: 'ar',
    async *answer(request, { call }) {
      const { route } = sourceOf(request, ['/v1/chat/completions', '/v1/completions']);
      const { body } = await call(route, { json: remoteTextBody(request, model) });
      for await (const piece of remoteText(body)) yield { ...piece, audio: null, artifact: null };
    },
  };
}

function speechStage(model: string, sampleRateHz: number): RemoteKind {
  return {
    kind: 'generation',
    async *answer(request, { call }) {
      const { route } = sourceOf(request, ['/v1/audio/speech']);
      const { headers, body } = await call(route, { json: remoteSpeechBody(request, model) });
      checkSpeechHeaders(headers, sampleRateHz);
      const same = { text: null, artifact: null, stopReason: null };
      for await (const audio of remoteSpeech(body, sampleRateHz))
        yield { ...same, units: audio.samples, audio, finishReason: null };
      yield { ...same, units: 0, audio: null, finishReason: 'stop' };
    },
  };
}

/** A job that nobody waits for any more is deleted, whatever comes of that. */
function deleteJob(options: ProxyOptions, path: string): void {
  const call = remoteCall(options, AbortSignal.timeout(10_000));
  void call(path, { method: 'DELETE' })
    .then((reply) => wholeBody(reply, 65536))
    .catch(() => undefined);
}

function picturesStage(model: string, defaults: DiffusionDefaults): RemoteKind {
  return {
    kind: 'diffusion',
    async *answer({ task }, { options, call, signal, nowMs, tell }) {
      const end = { text: null, audio: null, finishReason: 'stop', stopReason: null } as const;
      tell({ state: 'in_progress', percent: 0, planned: null });
      if (task.kind === 'image') {
        const artifact = await remoteImages(task, model, defaults, call, nowMs);
        yield { ...end, units: artifact.images.length, artifact };
      } else if (task.kind === 'video') {
        const onCreated = (path: string): void =>
          signal.addEventListener('abort', () => deleteJob(options, path), { once: true });
        const remote = { call, nowMs, pollMs: options.pollMs, signal, tell, onCreated };
        yield { ...end, units: 1, artifact: await remoteVideo(task, model, defaults, remote) };
      } else throw new ProxyError(501, 'A diffusion stage on engine proxy makes images and videos only.');
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
  if (stage.executionType === 'DIFFUSION' && isFirst) return picturesStage(model, stage.defaults);
  throw new UsageError(
    `Stage ${stage.stageId} (${stage.name}) cannot run on engine proxy: ` +
      'it takes a first stage that gives text, images or videos, or a stage that gives speech.',
  );
}

/** One request under way at the remote server, or waiting to be. */
class ProxySequence {
  readonly #request: StageRequest;
  readonly #listener: StageListener;
  readonly #left: (sequence: ProxySequence) => void;
  readonly #warn: (detail: string) => void;
  readonly #abort = new AbortController();

  constructor(
    request: StageRequest,
    listener: StageListener,
    left: (sequence: ProxySequence) => void,
    warn: (detail: string) => void,
  ) {
    this.#request = request;
    this.#listener = listener;
    this.#left = left;
    this.#warn = warn;
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
      const call = remoteCall(options, signal);
      const tell = (progress: StageProgress): void => {
        if (!signal.aborted) this.#listener.onProgress(progress);
      };
      const context = { options, call, signal, nowMs, tell };
      for await (const output of remote.answer(this.#request, context)) {
        if (signal.aborted) return;
        if (output.finishReason !== null) this.#left(this);
        const dueMs = nowMs();
        this.#listener.onOutput({ ...output, dueMs, kv: null, stepMs: 0 }, dueMs);
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#left(this);
      const { status, message, detail } = ProxyError.from(error);
      if (detail !== null) this.#warn(detail);
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

  let warnedOf = '';
  /** A server that is away fails every request in the same words: they are said once. */
  const warn = (detail: string): void => {
    if (detail === warnedOf) return;
    warnedOf = detail;
    console.error(`warning: stage ${stage.stageId} (${stage.name}) on engine proxy: ${detail}`);
  };

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
      const sequence = new ProxySequence(request, listener, left, warn);
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
