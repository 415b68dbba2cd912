import { OmnimeterError } from '../../foundation/errors.ts';
import { nearestName } from '../../foundation/nearest-name.ts';
import type { PipelineDefinition } from '../pipeline/pipeline-definition.ts';
import { qwen3Omni } from './qwen3-omni.ts';
import { textLlm } from './text-llm.ts';

/** The pipelines that the server knows. A new model is a file beside this one and a line here. */
export const pipelines = { qwen3Omni, textLlm } satisfies Record<string, PipelineDefinition>;

/** No pipeline serves the model that was named. */
export class UnknownModelError extends OmnimeterError {
  override readonly code = 'UNKNOWN_MODEL';
}

/** The last path segment of a model's path or id; blank segments at the end are passed over. */
export function lastSegment(model: string): string {
  return (
    model
      .split(/[\\/]/)
      .filter((segment) => segment.trim() !== '')
      .at(-1) ?? ''
  );
}

/** Full ids of the models that are recognised by name. */
export function knownModelIds(): string[] {
  return Object.values(pipelines).flatMap((pipeline) => pipeline.modelIds);
}

/**
 * The pipeline of a model, recognised by the last segment of its path or id, whatever the case.
 * @throws UnknownModelError naming the nearest and listing all known ids
 */
export function pipelineForModel(model: string): PipelineDefinition {
  const segment = lastSegment(model).toLowerCase();
  const all: readonly PipelineDefinition[] = Object.values(pipelines);
  const exact = all.find(({ modelIds }) => modelIds.some((id) => lastSegment(id).toLowerCase() === segment));
  const found = exact ?? all.find(({ modelPattern }) => modelPattern?.test(segment));
  if (found !== undefined) return found;
  const ids = knownModelIds();
  const nearest = nearestName(segment, ids.map(lastSegment));
  const hint =
    nearest === null ? '' : ` Did you mean ${ids.find((id) => lastSegment(id) === nearest) ?? nearest}?`;
  throw new UnknownModelError(
    `No pipeline is known for the model "${model}".${hint} Known models (a path that ends like one of them will ` +
      `do): ${ids.join(', ')}.`,
  );
}
