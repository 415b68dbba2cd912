import type { StageSampling } from '../../protocol/sampling.ts';
import type { StageParams } from '../engine/stage-engine.ts';
import type { PipelineDefinition } from '../pipeline/pipeline-definition.ts';
import { RequestError } from './request-error.ts';

/** Sampling fields as an engine takes them. */
export function stageParams(sampling: StageSampling | null | undefined): StageParams {
  const stop = sampling?.stop ?? [];
  return {
    maxTokens: sampling?.max_tokens ?? null,
    minTokens: sampling?.min_tokens ?? 0,
    ignoreEos: sampling?.ignore_eos ?? false,
    stop: (typeof stop === 'string' ? [stop] : stop).filter((text) => text !== ''),
    ...(sampling === null || sampling === undefined ? {} : { sampling }),
  };
}

/**
 * The parameters of every stage: those of `perStage` where the request has it, else the request's own fields for
 * the stage that understands the prompt, and the deployment's defaults for the others.
 * @throws RequestError 400 for more entries than stages
 */
export function paramsOfStages(
  pipeline: PipelineDefinition,
  request: StageSampling,
  perStage: readonly (StageSampling | null)[] | null,
): StageParams[] {
  const count = pipeline.stages.length;
  if (perStage !== null && perStage.length > count)
    throw new RequestError(
      400,
      `sampling_params_list has ${perStage.length} entries, but the pipeline has ${count} stage${count === 1 ? '' : 's'}.`,
      'sampling_params_list',
    );
  return pipeline.stages.map((stage, index) => {
    if (perStage !== null) return stageParams(perStage[index]);
    return stageParams(stage.isComprehension ? request : null);
  });
}
