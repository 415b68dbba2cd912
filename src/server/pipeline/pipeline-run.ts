import { nowMs } from '../../foundation/clock.ts';
import { messageOf } from '../../foundation/errors.ts';
import type { StageMetrics } from '../../protocol/stage-metrics.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import type {
  StageChunk,
  StageFailure,
  StageListener,
  StageOutput,
  StageParams,
  StageProgress as StageProgressReport,
} from '../engine/stage-engine.ts';
import { chatTask, type RequestSource, type StageTask } from '../engine/stage-task.ts';
import { ChunkAdapter, type ChunkRule } from './chunk-adapter.ts';
import type { Connector, Edge } from './connector.ts';
import type { StageDefinition } from './pipeline-definition.ts';
import type { StageBinding, StagePool } from './stage-pool.ts';
import { StageRecorder } from './stage-recorder.ts';

/** A request as the API hands it to the pipeline. */
export type PipelineRequest = {
  /** Unique among the requests under way. */
  readonly id: string;
  /** When the HTTP request was accepted, ms on the scheduler's clock. */
  readonly acceptedMs: number;
  readonly promptTokens: number;
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

/** What all requests of a server run on. */
export type PipelineRuntime = {
  /** By stage id. */
  readonly pools: readonly StagePool[];
  /** All pairs of stages of which one reads the other. */
  readonly edges: readonly Edge[];
  readonly connector: Connector;
  readonly scheduler: Scheduler;
  /** Feed downstream stages chunk by chunk; otherwise each starts when the one before it has finished. */
  readonly asyncChunk: boolean;
};

/** A hand-off from one stage of a request to another, and the time spent on it. */
type HandOff = {
  readonly edge: Edge;
  readonly adapter: ChunkAdapter;
  readonly bytesPerUnit: number;
  spentMs: number;
};

/** Time that a request spent on the way between two stages, ms. */
export type HandOffTime = { readonly edge: Edge; readonly ms: number };

/** A request in one stage. */
type StageProgress = {
  readonly pool: StagePool;
  readonly stage: StageDefinition;
  readonly recorder: StageRecorder;
  readonly handOffs: readonly HandOff[];
  readonly wanted: boolean;
  binding: StageBinding | null;
};

function snapshotsOf(stages: readonly StageProgress[]): StageMetrics {
  return Object.fromEntries(
    stages.map(({ stage, recorder }) => [String(stage.stageId), recorder.snapshot()]),
  );
}

function chunkRule(stage: StageDefinition, request: PipelineRequest, asyncChunk: boolean): ChunkRule {
  if (!asyncChunk) return { kind: 'whole' };
  if (stage.executionType !== 'LLM_GENERATION') return { kind: 'each' };
  const { frames, initial } = stage.laws.chunk;
  return { kind: 'units', units: frames, initial: request.initialChunkFrames ?? initial };
}

/** One request on its way through the stages. */
export class PipelineRun {
  readonly #runtime: PipelineRuntime;
  readonly #request: PipelineRequest;
  readonly #sink: ReplySink;
  readonly #onEnd: () => void;
  readonly #stages: readonly StageProgress[];
  #finalStagesLeft: number;
  #ended = false;

  constructor(runtime: PipelineRuntime, request: PipelineRequest, sink: ReplySink, onEnd: () => void) {
    this.#runtime = runtime;
    this.#request = request;
    this.#sink = sink;
    this.#onEnd = onEnd;
    this.#finalStagesLeft = request.finalStageIds.length;
    const lastStageId = Math.max(...request.finalStageIds);
    this.#stages = runtime.pools
      .filter((pool) => pool.stage.stageId <= lastStageId)
      .map((pool) => this.#planStage(pool, lastStageId));
  }

  /**
   * Submits the first stage, and with async chunks all stages, so that each is ready when its first chunk comes.
   * Outputs follow on later turns.
   */
  start(): void {
    for (const progress of this.#stages) {
      if (this.#runtime.asyncChunk || progress.stage.inputSources.length === 0) this.#submit(progress);
    }
  }

  /** Stops the request in every stage; the sink hears no more. Harmless after the end. */
  abort(): void {
    this.#end();
  }

  /** Ends the request with an error. */
  fail(failure: StageFailure): void {
    if (this.#ended) return;
    this.#end();
    this.#sink.onFailure(failure);
  }

  /** Tokens of the reply's text so far, also where the client did not ask for the text. */
  completionTokens(): number {
    const text = this.#stages.find(({ stage }) => stage.isComprehension);
    return text?.recorder.tokensOut ?? 0;
  }

  /** Snapshots of the stages that have finished, once the text's stage has; `null` before. */
  finishedSnapshots(): StageMetrics | null {
    const finished = this.#stages.filter(({ recorder }) => recorder.finished);
    return finished.some(({ stage }) => stage.isComprehension) ? snapshotsOf(finished) : null;
  }

  /** Snapshots of all stages that ran; complete once the request has finished. */
  allSnapshots(): StageMetrics {
    return snapshotsOf(this.#stages.filter(({ binding }) => binding !== null));
  }

  /**
   * `stage_durations` of a reply: `stage_<n>_gen_ms` and `queue_wait_ms`, and the profiler's times in seconds under
   * its own names; of the stages that have finished.
   */
  stageDurations(): Record<string, number> {
    const durations: Record<string, number> = {};
    for (const { stage, recorder } of this.#stages) {
      if (recorder.generationMs !== null) durations[`stage_${stage.stageId}_gen_ms`] = recorder.generationMs;
      if (recorder.diffusion === null) continue;
      durations.queue_wait_ms = recorder.diffusion.queueWaitMs;
      Object.assign(durations, recorder.diffusion.profileS);
    }
    return durations;
  }

  /** Highest memory of the request's diffusion stages, MB; `null` = it had none. */
  peakMemoryMb(): number | null {
    const peaks = this.#stages.flatMap(({ recorder }) => recorder.diffusion?.peakMemoryMb ?? []);
    return peaks.length === 0 ? null : Math.max(...peaks);
  }

  /** Time spent between stages so far. */
  handOffTimes(): HandOffTime[] {
    return this.#stages.flatMap(({ handOffs }) =>
      handOffs.map(({ edge, spentMs }) => ({ edge, ms: spentMs })),
    );
  }

  #planStage(pool: StagePool, lastStageId: number): StageProgress {
    const { stage } = pool;
    const { acceptedMs, promptTokens, keepGaps, finalStageIds } = this.#request;
    const outgoing = this.#runtime.edges.filter(
      ({ from, to }) => from === stage.stageId && to <= lastStageId,
    );
    return {
      pool,
      stage,
      recorder: new StageRecorder(stage, acceptedMs, promptTokens, keepGaps),
      handOffs: outgoing.flatMap((edge) => this.#planHandOff(stage, edge)),
      wanted: finalStageIds.includes(stage.stageId),
      binding: null,
    };
  }

  #planHandOff(producer: StageDefinition, edge: Edge): HandOff[] {
    const consumer = this.#runtime.pools[edge.to]?.stage;
    if (consumer === undefined) return [];
    const rule = chunkRule(consumer, this.#request, this.#runtime.asyncChunk);
    const bytesPerUnit = producer.executionType === 'LLM_AR' ? producer.handOffBytesPerUnit : 0;
    return [{ edge, adapter: new ChunkAdapter(rule), bytesPerUnit, spentMs: 0 }];
  }

  #submit(progress: StageProgress): void {
    if (this.#ended || progress.binding !== null) return;
    const { id, acceptedMs, promptTokens, params } = this.#request;
    const { stageId, inputSources } = progress.stage;
    const listener: StageListener = {
      onOutput: (output, timeMs) => this.#route(progress, output, timeMs),
      onProgress: (report) => this.#sink.onProgress?.(progress.stage, report),
      onFailure: (failure) => this.fail(failure),
    };
    progress.recorder.submitted(this.#runtime.scheduler.nowMs());
    progress.binding = progress.pool.submit(
      {
        id,
        acceptedMs,
        promptTokens,
        params: params[stageId] ?? { maxTokens: null, minTokens: 0, ignoreEos: false, stop: [] },
        task: this.#request.task ?? chatTask,
        source: this.#request.source ?? null,
        hasUpstream: inputSources.length > 0,
        fullPayload: !this.#runtime.asyncChunk,
      },
      listener,
    );
    if (progress.binding === null)
      this.fail({ message: `Stage ${stageId} (${progress.stage.name}) has no live replica.`, status: 500 });
  }

  #route(progress: StageProgress, output: StageOutput, timeMs: number): void {
    if (this.#ended) return;
    try {
      progress.recorder.output(output, timeMs);
      for (const handOff of progress.handOffs) this.#forward(progress, handOff, output);
      if (!progress.wanted) return;
      if (output.finishReason !== null) this.#finalStagesLeft -= 1;
      const requestFinished = this.#finalStagesLeft === 0;
      if (requestFinished) this.#end();
      this.#sink.onOutput(progress.stage, output, requestFinished);
    } catch (error) {
      // A fault in one request's path must not stop the others that are due in the same turn.
      this.fail({ message: `Internal error: ${messageOf(error)}`, status: 500 });
    }
  }

  #forward(progress: StageProgress, handOff: HandOff, output: StageOutput): void {
    const { edge, adapter, bytesPerUnit } = handOff;
    const chunkId = adapter.chunkCount;
    const chunk = adapter.push(output);
    if (chunk === null) return;
    const startMs = nowMs();
    const { connector, asyncChunk } = this.#runtime;
    const { id } = this.#request;
    const metadata = connector.put(edge, id, `${edge.from}_${chunkId}`, chunk, chunk.units * bytesPerUnit);
    connector.get(edge, metadata, (received) => this.#deliver(edge, received));
    const spentMs = nowMs() - startMs;
    handOff.spentMs += spentMs;
    // The conversion of a whole output for the next stage; chunks are handed on as they are.
    if (!asyncChunk) progress.recorder.postprocessed(spentMs);
  }

  #deliver(edge: Edge, chunk: StageChunk | null): void {
    const next = this.#stages[edge.to];
    if (this.#ended || chunk === null || next === undefined) return;
    this.#submit(next);
    next.binding?.sequence.feed(chunk);
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const { binding } of this.#stages) binding?.sequence.abort();
    this.#runtime.connector.cleanup(this.#request.id);
    this.#onEnd();
  }
}
