import type { MediaReferenceField, VideoRequest } from '../../protocol/videos.ts';
import type { MediaReference, VideoTask } from '../engine/stage-task.ts';
import type { ApiContext } from './api-context.ts';
import type { ApiLimits } from './api-limits.ts';
import { extraFields, wantedSize } from './diffusion-task.ts';
import type { FormBody, FormFile } from './form-body.ts';
import { clipReference, imageReference, referenceFromUrl } from './media-reference.ts';
import { stageIdsGiving } from './model-routes.ts';
import { countPromptTokens } from './prompt-tokens.ts';
import type { RunRequest } from './reply-life.ts';
import { checkModel, isTruthy } from './request-body.ts';
import { RequestError } from './request-error.ts';
import { paramsOfStages } from './stage-params.ts';

/** What a request for a video comes down to. */
export type VideoPlan = {
  readonly model: string | null;
  readonly prompt: string;
  /** As asked for; `"4"` where the request says nothing. */
  readonly seconds: string;
  readonly task: VideoTask;
  readonly run: RunRequest;
  readonly returnStageMetrics: boolean;
};

const defaultFps = 24;
const defaultSeconds = '4';
const binaryFields = ['input_reference', 'input_references'];

/** Even, as the pictures' colours are kept at half the size. */
function evenPx(px: number): number {
  return Math.max(2, px - (px % 2));
}

function framesOf(request: VideoRequest, defaultRate: number, mostS: number): number | null {
  if (request.num_frames !== null && request.num_frames !== undefined) return request.num_frames;
  const { seconds } = request;
  if (seconds === null || seconds === undefined) return null;
  if (!/^[1-9]\d*$/.test(seconds) || Number(seconds) > mostS)
    throw new RequestError(
      400,
      `seconds must be a whole number from 1 to ${mostS}; got "${seconds.slice(0, 100)}".`,
      'seconds',
    );
  return Math.max(1, Math.round(Number(seconds) * (request.fps ?? defaultRate)));
}

/** The field that made a video too long. */
function lengthField({ num_frames: frames, seconds }: VideoRequest): string {
  if ((frames ?? null) !== null) return 'num_frames';
  return (seconds ?? null) === null ? 'fps' : 'seconds';
}

/** @throws RequestError 400 for more frames, or a longer video, than this server makes */
function checkLength(
  request: VideoRequest,
  frames: number,
  fps: number,
  { mediaS, videoFrames }: ApiLimits,
): void {
  if (frames > videoFrames)
    throw new RequestError(
      400,
      `${lengthField(request)}: ${frames} frames; this server makes at most ${videoFrames}.`,
      lengthField(request),
    );
  if (frames / fps <= mediaS) return;
  const field = request.fps === null || request.fps === undefined ? lengthField(request) : 'fps';
  throw new RequestError(
    400,
    `${field}: ${frames} frames at ${fps} a second are ${Math.round(frames / fps)} s; this server makes at most ` +
      `${mediaS} s.`,
    field,
  );
}

/** The URL of a reference. @throws RequestError 400 */
function referenceUrl(value: unknown, key: string, field: string): string {
  if (typeof value === 'string') return value;
  const object: Readonly<Record<string, unknown>> =
    typeof value === 'object' && value !== null ? { ...value } : {};
  if ('file_id' in object)
    throw new RequestError(400, `${field}: file_id is not supported; send "${key}".`, field);
  const url = object[key];
  if (typeof url === 'string' && url !== '') return url;
  throw new RequestError(400, `${field} must be {"${key}": URL}.`, field);
}

async function jsonReferences(
  kind: MediaReference['kind'],
  value: MediaReferenceField | null | undefined,
  context: ApiContext,
): Promise<MediaReference[]> {
  if (value === null || value === undefined) return [];
  const field = `${kind}_reference`;
  const references: MediaReference[] = [];
  for (const item of Array.isArray(value) ? value : [value]) {
    const url = referenceUrl(item, `${kind}_url`, field);
    references.push(await referenceFromUrl(kind, url, field, context));
  }
  return references;
}

async function fileReference(
  { field, bytes, mimeType }: FormFile,
  context: ApiContext,
): Promise<MediaReference> {
  if (mimeType.startsWith('image/')) return imageReference(bytes, field, context);
  if (mimeType.startsWith('video/')) return clipReference('video', bytes, field, context);
  if (mimeType.startsWith('audio/')) return clipReference('audio', bytes, field, context);
  // A form that does not say what it sends: the bytes tell.
  return imageReference(bytes, field, context)
    .catch(() => clipReference('video', bytes, field, context))
    .catch(() => clipReference('audio', bytes, field, context));
}

/** A file, or JSON references, to start from. @throws RequestError 400 for both at once */
async function referencesOf(
  { files }: FormBody,
  request: VideoRequest,
  context: ApiContext,
): Promise<MediaReference[]> {
  const binary = files.filter(({ field }) => binaryFields.includes(field));
  const given = [
    ...(binary.length > 0 ? ['input_reference'] : []),
    ...(request.image_reference ? ['image_reference'] : []),
    ...(request.video_reference ? ['video_reference'] : []),
  ];
  // An image and a video together must both come as JSON.
  if (given.length > 1 && binary.length > 0)
    throw new RequestError(400, `${given.join(' and ')} exclude each other; send one of them.`, given[1]);
  const references: MediaReference[] = [];
  for (const file of binary) references.push(await fileReference(file, context));
  references.push(...(await jsonReferences('image', request.image_reference, context)));
  references.push(...(await jsonReferences('video', request.video_reference, context)));
  references.push(...(await jsonReferences('audio', request.audio_reference, context)));
  return references;
}

/**
 * Reads a request for a video.
 * @throws RequestError 400 for what is malformed or not supported, 404 for another model
 */
export async function planVideo(
  form: FormBody,
  request: VideoRequest,
  path: string,
  context: ApiContext,
): Promise<VideoPlan> {
  checkModel(request.model, context);
  const stage = context.pipeline.stages.find(({ finalOutputType }) => finalOutputType === 'video');
  const defaults = stage?.executionType === 'DIFFUSION' ? stage.defaults : null;
  const modelFps = defaults?.fps ?? defaultFps;
  const size = wantedSize(request, context.limits.imagePixels);
  const numFrames = framesOf(request, modelFps, context.limits.mediaS);
  checkLength(request, numFrames ?? defaults?.numFrames ?? 1, request.fps ?? modelFps, context.limits);
  const returnStageMetrics = isTruthy(request.return_stage_metrics);
  const task: VideoTask = {
    kind: 'video',
    prompt: request.prompt,
    negativePrompt: request.negative_prompt ?? null,
    widthPx: size === null ? null : evenPx(size.widthPx),
    heightPx: size === null ? null : evenPx(size.heightPx),
    numFrames,
    fps: request.fps ?? null,
    numInferenceSteps: request.num_inference_steps ?? null,
    guidanceScale: request.guidance_scale ?? null,
    trueCfgScale: request.true_cfg_scale ?? null,
    seed: request.seed ?? null,
    references: await referencesOf(form, request, context),
    extra: extraFields(request),
  };
  return {
    model: request.model ?? null,
    prompt: request.prompt,
    seconds: request.seconds ?? defaultSeconds,
    task,
    run: {
      promptTokens: await countPromptTokens(request.prompt, context.countTokens),
      finalStageIds: stageIdsGiving(context, 'video'),
      params: paramsOfStages(context.pipeline, {}, null),
      initialChunkFrames: null,
      keepGaps: returnStageMetrics,
      task,
      source: { route: path, body: request },
    },
    returnStageMetrics,
  };
}
