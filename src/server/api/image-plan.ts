import { type ImageFormat, imageFormats } from '../../media/draw-image.ts';
import type { ImageGenerationRequest } from '../../protocol/images.ts';
import type { ImageTask, MediaReference } from '../engine/stage-task.ts';
import type { ApiContext } from './api-context.ts';
import { extraFields, type WantedSize, wantedSize } from './diffusion-task.ts';
import { stageIdsGiving, stagesGiving } from './model-routes.ts';
import { countPromptTokens } from './prompt-tokens.ts';
import type { RunRequest } from './reply-life.ts';
import { checkModel, isTruthy } from './request-body.ts';
import { RequestError } from './request-error.ts';
import { paramsOfStages } from './stage-params.ts';

/** What a request for images comes down to. */
export type ImagePlan = {
  readonly model: string | null;
  readonly run: RunRequest;
  readonly format: ImageFormat;
  /** 1 to 100, of JPEG and WebP. */
  readonly quality: number;
  /** Bytes instead of JSON. */
  readonly asFile: boolean;
  readonly returnStageMetrics: boolean;
};

/** @throws RequestError 400 */
function imageFormat(name: string | null | undefined): ImageFormat {
  const wanted = (name ?? 'png').toLowerCase();
  const format = imageFormats.find((known) => known === (wanted === 'jpg' ? 'jpeg' : wanted));
  if (format !== undefined) return format;
  throw new RequestError(400, `output_format must be png, jpeg or webp; got "${name}".`, 'output_format');
}

/** @throws RequestError 400 */
function isFile(responseFormat: string | null | undefined, allowed: readonly string[]): boolean {
  const wanted = responseFormat ?? 'b64_json';
  if (allowed.includes(wanted)) return wanted === 'file';
  throw new RequestError(
    400,
    `response_format must be ${allowed.join(' or ')}; got "${wanted}".`,
    'response_format',
  );
}

/** What the image routes differ in. */
export type ImageRoute = {
  readonly path: string;
  readonly responseFormats: readonly string[];
  readonly references: readonly MediaReference[];
  /** `auto`, or what an edit falls back to. */
  readonly defaultSize: WantedSize;
};

/**
 * Reads a request for images.
 * @throws RequestError 400 for what is malformed or not supported, 404 for another model
 */
export async function planImages(
  request: ImageGenerationRequest,
  route: ImageRoute,
  context: ApiContext,
): Promise<ImagePlan> {
  checkModel(request.model, context);
  const size = request.size === 'auto' ? null : wantedSize(request, context.limits.imagePixels);
  const format = imageFormat(request.output_format);
  const asFile = isFile(request.response_format, route.responseFormats);
  const task: ImageTask = {
    kind: 'image',
    count: request.n ?? 1,
    prompt: request.prompt,
    negativePrompt: request.negative_prompt ?? null,
    widthPx: (size ?? route.defaultSize)?.widthPx ?? null,
    heightPx: (size ?? route.defaultSize)?.heightPx ?? null,
    numInferenceSteps: request.num_inference_steps ?? null,
    guidanceScale: request.guidance_scale ?? null,
    trueCfgScale: request.true_cfg_scale ?? null,
    seed: request.seed ?? null,
    references: route.references,
    extra: extraFields(request),
  };
  const returnStageMetrics = isTruthy(request.return_stage_metrics);
  return {
    model: request.model ?? null,
    run: {
      promptTokens: await countPromptTokens(request.prompt, context.countTokens),
      finalStageIds: stageIdsGiving(context, 'text', 'image'),
      params: paramsOfStages(context.pipeline, {}, null),
      initialChunkFrames: null,
      keepGaps: returnStageMetrics,
      task,
      source: { route: route.path, body: request },
    },
    format,
    quality: Math.max(1, request.output_compression ?? 100),
    asFile,
    returnStageMetrics,
  };
}

/** Whether the model writes text before it draws. */
export function writesBeforeDrawing(context: ApiContext): boolean {
  return stagesGiving(context, 'text').length > 0;
}
