import type { StageDefinition } from '../pipeline/pipeline-definition.ts';
import type { EngineContext } from './engine-factory.ts';
import { simAutoregressiveEngine } from './sim-autoregressive-engine.ts';
import { simDiffusionEngine } from './sim-diffusion-engine.ts';
import { simGenerationEngine } from './sim-generation-engine.ts';
import { simPoolingEngine } from './sim-pooling-engine.ts';
import type { StageEngine } from './stage-engine.ts';

/** An engine that keeps the times of a stage's laws and makes up what comes out. */
export function simEngine(stage: StageDefinition, context: EngineContext): StageEngine {
  const { scheduler, seed, pipelineLoad, tokenize } = context;
  const common = { maxNumSeqs: stage.maxNumSeqs, scheduler, seed, stageName: stage.name };
  switch (stage.executionType) {
    case 'LLM_AR':
      return simAutoregressiveEngine({
        ...common,
        laws: stage.laws,
        maxNumBatchedTokens: stage.maxNumBatchedTokens,
        defaultMaxTokens: stage.defaultMaxTokens,
        naturalTokens: stage.naturalTokens,
        kvCacheTokens: stage.kvCacheTokens,
        emitsText: stage.finalOutputType === 'text',
        tokenize,
        pipelineLoad,
      });
    case 'LLM_GENERATION':
      return simGenerationEngine({ laws: stage.laws, maxNumSeqs: stage.maxNumSeqs, scheduler, pipelineLoad });
    case 'DIFFUSION':
      return simDiffusionEngine({
        ...common,
        laws: stage.laws,
        output: stage.finalOutputType === 'video' ? 'video' : 'image',
        defaults: stage.defaults,
        stepExecution: stage.stepExecution,
        profileName: stage.profileName,
      });
    case 'LLM_POOLING':
      return simPoolingEngine({ ...common, laws: stage.laws, dimensions: stage.dimensions });
  }
}
