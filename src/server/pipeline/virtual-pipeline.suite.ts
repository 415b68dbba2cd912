import type { StageMetrics } from '../../protocol/stage-metrics.ts';
import type { StageFailure, StageOutput, StageParams } from '../engine/stage-engine.ts';
import type { StageTask } from '../engine/stage-task.ts';
import { type VirtualScheduler, virtualScheduler } from '../engine/virtual-scheduler.ts';
import { createOrchestrator } from './create-runtime.ts';
import type { Orchestrator } from './orchestrator.ts';
import type { PipelineDefinition, StageDefinition } from './pipeline-definition.ts';
import type { PipelineRun } from './pipeline-run.ts';

/** An output as the client's side got it. */
export type SeenOutput = { stageId: number; output: StageOutput; timeMs: number; requestFinished: boolean };

/** A request's whole course on the virtual clock. */
export type SeenRun = {
  run: PipelineRun;
  acceptedMs: number;
  outputs: SeenOutput[];
  failure: StageFailure | null;
  /** Percent, as told. */
  progress: number[];
  finishedMs: number | null;
  metrics(): StageMetrics;
};

export type VirtualPipeline = {
  scheduler: VirtualScheduler;
  orchestrator: Orchestrator;
  /** Submits at the clock's present time. */
  submit(request?: {
    promptTokens?: number;
    readTokens?: number;
    params?: Partial<StageParams>;
    finalStageIds?: number[];
    task?: StageTask;
    /** Called when the last output has come. */
    onFinished?: () => void;
  }): SeenRun;
};

/** A pipeline on a clock that jumps, for tests of the laws. */
export function virtualPipeline(
  pipeline: PipelineDefinition,
  options: { asyncChunk?: boolean; timeScale?: number; seed?: number } = {},
): VirtualPipeline {
  const scheduler = virtualScheduler(1000);
  const { asyncChunk = pipeline.asyncChunk, timeScale = 1, seed = 0 } = options;
  const orchestrator = createOrchestrator({
    pipeline: { ...pipeline, asyncChunk },
    scheduler,
    timeScale,
    seed,
    tokenize: (text) => text.split(/(?= )/),
  });
  const finals = pipeline.stages.filter(({ finalOutputType }) => finalOutputType !== null);
  let submitted = 0;
  return {
    scheduler,
    orchestrator,
    submit({ promptTokens = 2500, readTokens, params = {}, finalStageIds, task, onFinished } = {}) {
      const stageParams = { maxTokens: 900, minTokens: 0, ignoreEos: true, stop: [], ...params };
      const none = { maxTokens: null, minTokens: 0, ignoreEos: false, stop: [] };
      submitted += 1;
      // A request that cannot be served fails before its run is known.
      const seen: Omit<SeenRun, 'run' | 'metrics'> = {
        acceptedMs: scheduler.nowMs(),
        outputs: [],
        failure: null,
        progress: [],
        finishedMs: null,
      };
      const run = orchestrator.submit(
        {
          id: `request-${submitted}`,
          acceptedMs: scheduler.nowMs(),
          promptTokens,
          finalStageIds: finalStageIds ?? finals.map(({ stageId }) => stageId),
          params: pipeline.stages.map((stage) => (stage.isComprehension ? stageParams : none)),
          initialChunkFrames: null,
          keepGaps: true,
          ...(readTokens === undefined ? {} : { readTokens }),
          ...(task === undefined ? {} : { task }),
        },
        {
          onOutput(stage: StageDefinition, output, requestFinished) {
            const timeMs = scheduler.nowMs();
            seen.outputs.push({ stageId: stage.stageId, output, timeMs, requestFinished });
            if (requestFinished) {
              seen.finishedMs = timeMs;
              onFinished?.();
            }
          },
          onProgress(_stage, progress) {
            seen.progress.push(progress.percent);
          },
          onFailure(failure) {
            seen.failure = failure;
          },
        },
      );
      return Object.assign(seen, { run, metrics: () => run.allSnapshots() });
    },
  };
}

/** A pipeline whose durations are exactly their means. */
export function withoutNoise(pipeline: PipelineDefinition): PipelineDefinition {
  const stages = pipeline.stages.map((stage): StageDefinition => {
    if (stage.executionType === 'LLM_AR') {
      const { laws } = stage;
      const step = { ...laws.step, sd: 0, outlierP: 0 };
      return { ...stage, laws: { ...laws, ttft: { ...laws.ttft, sd: 0 }, step } };
    }
    if (stage.executionType === 'DIFFUSION') {
      const { laws } = stage;
      const peakMemory = { ...laws.peakMemory, sdMb: 0 };
      return { ...stage, laws: { ...laws, denoise: { ...laws.denoise, sd: 0 }, peakMemory } };
    }
    return stage;
  });
  return { ...pipeline, stages };
}
