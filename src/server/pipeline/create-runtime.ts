import type { Scheduler } from '../engine/scheduler.ts';
import { simAutoregressiveEngine } from '../engine/sim-autoregressive-engine.ts';
import { simGenerationEngine } from '../engine/sim-generation-engine.ts';
import { scaleAutoregressiveLaws, scaleGenerationLaws } from '../engine/sim-laws.ts';
import type { StageEngine } from '../engine/stage-engine.ts';
import { inProcessConnector } from './in-process-connector.ts';
import type { PipelineDefinition, StageDefinition } from './pipeline-definition.ts';
import type { PipelineRuntime } from './pipeline-run.ts';
import { StagePool } from './stage-pool.ts';

export type RuntimeOptions = {
  readonly pipeline: PipelineDefinition;
  readonly scheduler: Scheduler;
  readonly timeScale: number;
  readonly seed: number;
  readonly asyncChunk: boolean;
};

function createEngine(stage: StageDefinition, { scheduler, timeScale, seed }: RuntimeOptions): StageEngine {
  if (stage.executionType === 'LLM_GENERATION') {
    const laws = scaleGenerationLaws(stage.laws, timeScale);
    return simGenerationEngine({ laws, maxNumSeqs: stage.maxNumSeqs, scheduler });
  }
  if (stage.executionType !== 'LLM_AR')
    throw new Error(`Stage ${stage.stageId}: no engine for ${stage.executionType}`);
  return simAutoregressiveEngine({
    laws: scaleAutoregressiveLaws(stage.laws, timeScale),
    maxNumSeqs: stage.maxNumSeqs,
    defaultMaxTokens: stage.defaultMaxTokens,
    naturalTokens: stage.naturalTokens,
    emitsText: stage.finalOutputType === 'text',
    seed,
    stageName: stage.name,
    scheduler,
  });
}

/** Engines, pools and connectors for a pipeline: one replica per stage, all in this process. */
export function createRuntime(options: RuntimeOptions): PipelineRuntime {
  const { stages } = options.pipeline;
  return {
    pools: stages.map((stage) => new StagePool(stage, [createEngine(stage, options)])),
    edges: stages.flatMap(({ stageId, inputSources }) => inputSources.map((from) => ({ from, to: stageId }))),
    connector: inProcessConnector(),
    scheduler: options.scheduler,
    asyncChunk: options.asyncChunk,
  };
}
