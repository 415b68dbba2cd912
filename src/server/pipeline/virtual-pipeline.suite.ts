import type { StageMetrics } from '../../protocol/stage-metrics.ts';
import type { StageFailure, StageOutput, StageParams } from '../engine/stage-engine.ts';
import { type VirtualScheduler, virtualScheduler } from '../engine/virtual-scheduler.ts';
import { createRuntime } from './create-runtime.ts';
import { Orchestrator } from './orchestrator.ts';
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
  finishedMs: number | null;
  metrics(): StageMetrics;
};

export type VirtualPipeline = {
  scheduler: VirtualScheduler;
  orchestrator: Orchestrator;
  /** Submits at the clock's present time. */
  submit(request?: {
    promptTokens?: number;
    params?: Partial<StageParams>;
    finalStageIds?: number[];
  }): SeenRun;
};

/** A pipeline on a clock that jumps, for tests of the laws. */
export function virtualPipeline(
  pipeline: PipelineDefinition,
  options: { asyncChunk?: boolean; timeScale?: number; seed?: number } = {},
): VirtualPipeline {
  const scheduler = virtualScheduler(1000);
  const { asyncChunk = true, timeScale = 1, seed = 0 } = options;
  const orchestrator = new Orchestrator(createRuntime({ pipeline, scheduler, timeScale, seed, asyncChunk }));
  const finals = pipeline.stages.filter(({ finalOutputType }) => finalOutputType !== null);
  let submitted = 0;
  return {
    scheduler,
    orchestrator,
    submit({ promptTokens = 2500, params = {}, finalStageIds } = {}) {
      const stageParams = { maxTokens: 900, minTokens: 0, ignoreEos: true, stop: [], ...params };
      const none = { maxTokens: null, minTokens: 0, ignoreEos: false, stop: [] };
      const outputs: SeenOutput[] = [];
      submitted += 1;
      const run = orchestrator.submit(
        {
          id: `request-${submitted}`,
          acceptedMs: scheduler.nowMs(),
          promptTokens,
          finalStageIds: finalStageIds ?? finals.map(({ stageId }) => stageId),
          params: pipeline.stages.map((stage) => (stage.isComprehension ? stageParams : none)),
          initialChunkFrames: null,
          keepGaps: true,
        },
        {
          onOutput(stage: StageDefinition, output, requestFinished) {
            const timeMs = scheduler.nowMs();
            outputs.push({ stageId: stage.stageId, output, timeMs, requestFinished });
            if (requestFinished) seen.finishedMs = timeMs;
          },
          onFailure(failure) {
            seen.failure = failure;
          },
        },
      );
      const seen: SeenRun = {
        run,
        acceptedMs: scheduler.nowMs(),
        outputs,
        failure: null,
        finishedMs: null,
        metrics: () => run.allSnapshots(),
      };
      return seen;
    },
  };
}

/** A pipeline whose durations are exactly their means. */
export function withoutNoise(pipeline: PipelineDefinition): PipelineDefinition {
  const stages = pipeline.stages.map((stage): StageDefinition => {
    if (stage.executionType !== 'LLM_AR') return stage;
    const { laws } = stage;
    return {
      ...stage,
      laws: { ...laws, ttft: { ...laws.ttft, sd: 0 }, step: { ...laws.step, sd: 0, outlierP: 0 } },
    };
  });
  return { ...pipeline, stages };
}
