import type { Scheduler } from '../engine/scheduler.ts';
import type {
  StageEngine,
  StageFailure,
  StageOutput,
  StageParams,
  StageProgress as StageProgressReport,
} from '../engine/stage-engine.ts';
import type { RequestSource, StageTask } from '../engine/stage-task.ts';
import type { Connector } from './connector.ts';
import type { StageDefinition } from './pipeline-definition.ts';
import type { StagePool } from './stage-pool.ts';
import type { StreamWindow } from './stream-window.ts';
import type { TransferLedger } from './transfer-ledger.ts';
import type { Edge } from './transfer-metadata.ts';

/** A request as the API hands it to the pipeline. */
export type PipelineRequest = {
  /** Unique among the requests under way. */
  readonly id: string;
  /** When the HTTP request was accepted, ms on the scheduler's clock. */
  readonly acceptedMs: number;
  readonly promptTokens: number;
  /** Of these, those that the first stage has read already, as they came in; absent = none. */
  readonly readTokens?: number;
  /** Stages whose output the client wants; not empty. Stages after the last of them never run. */
  readonly finalStageIds: readonly number[];
  /** By stage id. */
  readonly params: readonly StageParams[];
  /** Codec frames in the first audio chunk; `null` = as deployed. */
  readonly initialChunkFrames: number | null;
  /** Keep the gaps between outputs for the stage metrics. */
  readonly keepGaps: boolean;
  /** Absent = text, and speech after it. */
  readonly task?: StageTask;
  /** Absent = not kept. */
  readonly source?: RequestSource;
  /** Factors on the durations of this request by stage id, to play a stage that is slow; absent = 1. */
  readonly paceByStage?: Readonly<Record<number, number>>;
};

/** Where the outputs of a request's final stages go. */
export type ReplySink = {
  /** @param requestFinished nothing follows */
  onOutput(stage: StageDefinition, output: StageOutput, requestFinished: boolean): void;
  /** Work of a diffusion stage has begun, or has come so far. */
  onProgress?(stage: StageDefinition, progress: StageProgressReport): void;
  /** The request ended without its output; nothing follows. */
  onFailure(failure: StageFailure): void;
};

/** What all requests of a server run on. Durations are as they shall pass on the scheduler's clock. */
export type PipelineRuntime = {
  /** By stage id. */
  readonly pools: readonly StagePool[];
  /** All pairs of stages of which one reads the other. */
  readonly edges: readonly Edge[];
  /** Makes one more replica of a stage. */
  readonly createReplica: (stage: StageDefinition) => StageEngine;
  readonly connector: Connector;
  readonly ledger: TransferLedger;
  readonly scheduler: Scheduler;
  /** Feed downstream stages chunk by chunk; otherwise each starts when the one before it has finished. */
  readonly asyncChunk: boolean;
  /** `null` = any number of requests may have their later stages at work. */
  readonly window: StreamWindow | null;
  /** From HTTP accept until the first stage has the request. */
  readonly preprocessMs: number;
};
