import { OmnimeterError } from '../../foundation/errors.ts';
import { nearestName } from '../../foundation/nearest-name.ts';
import type { PipelineDefinition } from '../pipeline/pipeline-definition.ts';
import { bagel } from './bagel.ts';
import { glmImage } from './glm-image.ts';
import { hunyuanImage3 } from './hunyuan-image3.ts';
import { qwenImage, qwenImageEdit, zImageTurbo } from './image-models.ts';
import { miniCpmO } from './minicpm-o.ts';
import { qwen25Omni } from './qwen2-5-omni.ts';
import { qwen3Omni, qwen3OmniPd } from './qwen3-omni.ts';
import { qwen3Tts } from './qwen3-tts.ts';
import { speechRecognition } from './speech-recognition.ts';
import { textLlm, visionLlm } from './text-llm.ts';
import { textPooling, visionPooling } from './text-pooling.ts';
import {
  heliosDistilled,
  hunyuanVideo,
  wan21,
  wan21I2v,
  wan21Small,
  wan22I2v,
  wan22T2v,
} from './video-models.ts';

/**
 * The pipelines that the server knows; a deployment file names them by their `name`. A new model is a file beside
 * this one, a line here and a deployment file.
 */
export const pipelines: readonly PipelineDefinition[] = [
  qwen3Omni,
  qwen3OmniPd,
  qwen25Omni,
  miniCpmO,
  bagel,
  hunyuanImage3,
  glmImage,
  qwenImage,
  qwenImageEdit,
  zImageTurbo,
  heliosDistilled,
  wan21,
  wan21Small,
  wan21I2v,
  wan22T2v,
  wan22I2v,
  hunyuanVideo,
  qwen3Tts,
  textLlm,
  visionLlm,
  textPooling,
  visionPooling,
  speechRecognition,
];

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
  return pipelines.flatMap(({ modelIds }) => modelIds);
}

/**
 * The pipeline of a model, recognised by the last segment of its path or id, whatever the case.
 * @throws UnknownModelError naming the nearest and listing all known ids
 */
export function pipelineForModel(model: string): PipelineDefinition {
  const segment = lastSegment(model).toLowerCase();
  const exact = pipelines.find(({ modelIds }) =>
    modelIds.some((id) => lastSegment(id).toLowerCase() === segment),
  );
  const found = exact ?? pipelines.find(({ modelPattern }) => modelPattern?.test(segment));
  if (found !== undefined) return found;
  const ids = knownModelIds();
  const nearest = nearestName(segment, ids.map(lastSegment));
  const hint =
    nearest === null ? '' : ` Did you mean ${ids.find((id) => lastSegment(id) === nearest) ?? nearest}?`;
  throw new UnknownModelError(
    `No pipeline is known for the model "${model}".${hint} Known models (a path that ends like one of them will ` +
      `do): ${ids.join(', ')}. For another model, write a deployment file that names the pipeline to serve it with ` +
      `and give it with --deploy-config, e.g. "pipeline: text_llm"; pipelines: ${pipelineNames().join(', ')}.`,
  );
}

/** Names of the pipelines, as a deployment file may give them. */
export function pipelineNames(): string[] {
  return pipelines.map(({ name }) => name);
}

/** The pipeline of that name; `null` = there is none. */
export function pipelineByName(name: string): PipelineDefinition | null {
  return pipelines.find((pipeline) => pipeline.name === name) ?? null;
}
