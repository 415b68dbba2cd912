import type { StageFailure, StageOutput } from '../engine/stage-engine.ts';
import { ChunkAdapter, type ChunkRule } from './chunk-adapter.ts';
import type { StageDefinition } from './pipeline-definition.ts';
import type { PipelineRequest, PipelineRuntime } from './pipeline-runtime.ts';
import type { StageBinding, StagePool } from './stage-pool.ts';
import { StageRecorder } from './stage-recorder.ts';
import type { Edge } from './transfer-metadata.ts';

/** A hand-off from one stage of a request to another, and the time spent on it. */
export type HandOff = {
  readonly edge: Edge;
  readonly consumer: StageDefinition;
  readonly adapter: ChunkAdapter;
  readonly bytesPerUnit: number;
  spentMs: number;
};

/** A request in one stage. */
export type StageProgress = {
  readonly pool: StagePool;
  readonly stage: StageDefinition;
  readonly recorder: StageRecorder;
  readonly handOffs: readonly HandOff[];
  readonly wanted: boolean;
  binding: StageBinding | null;
  arrivalIndex: number;
  /** When its next output is due; `null` = nobody knows, or none follows. */
  nextDueMs: number | null;
  /** Its outputs that wait until an earlier stage has given what was due before them. */
  readonly early: StageOutput[];
};

/** Whether a stage is fed while the one before it is still at work. */
export function receivesChunks(stage: StageDefinition, asyncChunk: boolean): boolean {
  if (!asyncChunk || stage.inputSources.length === 0) return false;
  if (stage.executionType === 'LLM_AR') return stage.role !== 'decode';
  return stage.executionType === 'LLM_GENERATION';
}

function chunkRule(stage: StageDefinition, request: PipelineRequest, asyncChunk: boolean): ChunkRule {
  if (!receivesChunks(stage, asyncChunk)) return { kind: 'whole' };
  if (stage.executionType !== 'LLM_GENERATION') return { kind: 'each' };
  const { frames, initial } = stage.laws.chunk;
  return { kind: 'units', units: frames, initial: request.initialChunkFrames ?? initial };
}

/** The stages that a request goes through: all up to the last that its client wants. */
export function planStages(runtime: PipelineRuntime, request: PipelineRequest): StageProgress[] {
  const lastStageId = Math.max(...request.finalStageIds);
  const { acceptedMs, promptTokens, keepGaps, finalStageIds } = request;
  const handOff = (producer: StageDefinition, edge: Edge): HandOff[] => {
    const consumer = runtime.pools[edge.to]?.stage;
    if (consumer === undefined) return [];
    const adapter = new ChunkAdapter(chunkRule(consumer, request, runtime.asyncChunk), request.id);
    const bytesPerUnit = producer.executionType === 'LLM_AR' ? producer.handOffBytesPerUnit : 0;
    return [{ edge, consumer, adapter, bytesPerUnit, spentMs: 0 }];
  };
  return runtime.pools
    .filter(({ stage }) => stage.stageId <= lastStageId)
    .map((pool) => ({
      pool,
      stage: pool.stage,
      recorder: new StageRecorder(pool.stage, acceptedMs, promptTokens, keepGaps),
      handOffs: runtime.edges
        .filter(({ from, to }) => from === pool.stage.stageId && to <= lastStageId)
        .flatMap((edge) => handOff(pool.stage, edge)),
      wanted: finalStageIds.includes(pool.stage.stageId),
      binding: null,
      arrivalIndex: 0,
      nextDueMs: null,
      early: [],
    }));
}

/** Whether a pool could not take a request. */
export function isFailure(result: object): result is StageFailure {
  return 'message' in result;
}
