import type { FinishReason, StageSampling } from '../../protocol/sampling.ts';
import type { Edge, TransferMetadata } from '../pipeline/transfer-metadata.ts';
import type { PcmAudio } from './pcm-audio.ts';
import type { StageArtifact } from './stage-artifact.ts';
import type { RequestSource, StageTask } from './stage-task.ts';

export type { PcmAudio } from './pcm-audio.ts';

/** Where the KV cache of a request lies once its stage has copied it out. */
export type KvHandle = { readonly engineId: string; readonly requestId: string };

/** What a stage that decodes from another's KV cache is told of it. */
export type KvTransferParams = {
  /** `xfer-` and the request's id. */
  readonly transferId: string;
  readonly remoteEngineId: string;
  readonly remoteRequestId: string;
};

/** What a stage produced at one moment. */
export type StageOutput = {
  /** When it was due by the engine's own schedule, ms on the scheduler's clock; never after it was emitted. */
  readonly dueMs: number;
  /** Tokens of an AR stage (codec frames of a talker), PCM samples of a vocoder, images, videos, vectors. */
  readonly units: number;
  /** New text; `null` = not a text stage. */
  readonly text: string | null;
  readonly audio: PcmAudio | null;
  /** Images, a video, a vector or a score; `null` = none in this output. */
  readonly artifact: StageArtifact | null;
  /** Set once the stage has copied its KV cache for the next one, `null` before and in other stages. */
  readonly kv: KvHandle | null;
  /** Mean time between this producer's outputs at its present load, ms; 0 = not a steady producer. */
  readonly stepMs: number;
  /** When the request's next output in this stage is due, on the clock of `dueMs`; absent = the engine cannot tell. */
  readonly nextDueMs?: number;
  /** Set on the last output of the request in this stage, `null` before. */
  readonly finishReason: FinishReason | null;
  /** The stop text that ended the request, else `null`. */
  readonly stopReason: string | null;
};

/** Upstream output as it reaches a stage. */
export type StageChunk = {
  /** When the last of it was ready, ms on the scheduler's clock. */
  readonly readyMs: number;
  readonly units: number;
  /** The producer's pace, see {@link StageOutput.stepMs}. */
  readonly producerStepMs: number;
  /** `null` = the payload carries no KV cache. */
  readonly kv: KvTransferParams | null;
  /** Nothing follows. */
  readonly final: boolean;
};

/** Sampling parameters that an engine acts on; `null` = the stage's own default. */
export type StageParams = {
  readonly maxTokens: number | null;
  readonly minTokens: number;
  readonly ignoreEos: boolean;
  readonly stop: readonly string[];
  /** What a simulated language stage is to write; absent = what it likes. */
  readonly script?: string;
  /** All sampling fields of the request for this stage, for an engine that hands them on; absent = none. */
  readonly sampling?: StageSampling;
};

/** A request as one stage sees it. */
export type StageRequest = {
  readonly id: string;
  /** Counts the requests of this stage, from 0. */
  readonly arrivalIndex: number;
  /** When the HTTP request was accepted, ms on the scheduler's clock. */
  readonly acceptedMs: number;
  readonly promptTokens: number;
  /** Of these, those that were read before, as they came in; absent = none. */
  readonly readTokens?: number;
  readonly params: StageParams;
  readonly task: StageTask;
  /** `null` = not kept: no engine of the pipeline hands requests on. */
  readonly source: RequestSource | null;
  /** Factor on all durations of this request in this stage; 1 = as the stage's laws say. */
  readonly pace: number;
  /** Fed by the stage before it; otherwise it starts from the prompt. */
  readonly hasUpstream: boolean;
  /** The whole upstream output comes as one chunk, not as it is produced. */
  readonly fullPayload: boolean;
};

/** Why a stage gave up on one request; others are not concerned. */
export type StageFailure = {
  readonly message: string;
  /** HTTP status that it comes to. */
  readonly status: number;
  /** `error.type` of the reply; absent = that of the status. */
  readonly type?: string;
};

/** How far a stage is that takes long and gives its output at the end. */
export type StageProgress = {
  /** Selected by the scheduler: work has begun. Before that the request is queued. */
  readonly state: 'in_progress';
  /** 0 to 100, never falling. */
  readonly percent: number;
  /** What will come out, where the engine knows it before; a reply may draw and encode it meanwhile. */
  readonly planned: StageArtifact | null;
};

/** Told of a request's progress in a stage; never from inside `submit`, `feed` or `abort`. */
export type StageListener = {
  onOutput(output: StageOutput, nowMs: number): void;
  /** Told by diffusion stages: once when work begins, and after denoising steps. */
  onProgress(progress: StageProgress): void;
  onFailure(failure: StageFailure): void;
};

/** A request under way in an engine. */
export type StageSequence = {
  /** Hands over upstream output; chunks arrive in order. */
  feed(chunk: StageChunk): void;
  /**
   * In another process: has that fetch the payload itself, instead of {@link feed}. Absent = the engine is here.
   * @param fromReplica replica of the producer, for the account of transfers
   */
  fetch?(edge: Edge, metadata: TransferMetadata, fromReplica: number | null): void;
  /** Frees everything it holds; the listener hears no more. Harmless after the end. */
  abort(): void;
};

export type EngineStats = {
  /** Requests that hold a seat. */
  readonly running: number;
  /** Requests that wait for a seat. */
  readonly waiting: number;
  /** Requests that wait for the first output of the stage before them. */
  readonly waitingForChunk: number;
  /** Share of its KV cache that holds tokens, 0 to 1; absent = it has none, or nobody knows. */
  readonly kvCacheUsage?: number;
};

/**
 * Runs one stage of a pipeline for many requests at once. `ar` decodes token by token in a continuous batch,
 * `generation` turns chunks that are ready into output in one forward, `diffusion` denoises, `pooling` makes a
 * vector or a score in one forward.
 */
export type StageEngine = {
  readonly kind: 'ar' | 'generation' | 'diffusion' | 'pooling';
  submit(request: StageRequest, listener: StageListener): StageSequence;
  stats(): EngineStats;
  isAlive(): boolean;
  /**
   * Asks to be told, once, when the engine dies by itself; absent = it lives as long as the process. The one that
   * asked fails the requests that were bound to it.
   */
  onDeath?(tell: (reason: string) => void): void;
  /** Drops every request without telling its listener. */
  close(): void;
};
