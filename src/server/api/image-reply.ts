import { randomBytes } from 'node:crypto';
import type { ImageFormat } from '../../media/draw-image.ts';
import { imageMimeTypes } from '../../media/draw-image.ts';
import type { ImagesResponse } from '../../protocol/images.ts';
import type { ReplyMetrics } from '../../protocol/stage-metrics.ts';
import type { ImagesArtifact } from '../engine/stage-artifact.ts';
import type { CollectedRun } from './collect-run.ts';
import type { ImagePlan } from './image-plan.ts';
import type { ReplyLife } from './reply-life.ts';
import { RequestError } from './request-error.ts';
import { sendBytes, sendJson } from './whole-reply.ts';
import { zipStore } from './zip-store.ts';

const extensions: Readonly<Record<ImageFormat, string>> = { png: 'png', jpeg: 'jpg', webp: 'webp' };

/**
 * The images of a run.
 * @throws RequestError 500 where there are none: an empty list would look like success
 */
export function imagesOf({ artifact }: CollectedRun): ImagesArtifact {
  if (artifact?.kind === 'images' && artifact.images.length > 0) return artifact;
  throw new RequestError(500, 'Images were asked for, but none was produced.');
}

/** `metrics` of a reply with images. */
export function imageMetrics({ run }: CollectedRun): ReplyMetrics {
  return {
    stage_metrics: run.allSnapshots(),
    stage_durations: run.stageDurations(),
    peak_memory_mb: run.peakMemoryMb() ?? 0,
  };
}

/** Width and height as they came out; `1024x1024`. */
export function shownSize({ images }: ImagesArtifact): string {
  const [first] = images;
  return first === undefined ? '' : `${first.widthPx}x${first.heightPx}`;
}

/** The reply's body. */
export function imagesBody(
  plan: ImagePlan,
  collected: CollectedRun,
  files: readonly Buffer[],
  createdS: number,
): ImagesResponse {
  return {
    created: createdS,
    data: files.map((bytes) => ({ b64_json: bytes.toString('base64'), url: null, revised_prompt: null })),
    output_format: plan.format,
    size: shownSize(imagesOf(collected)),
    ...(collected.text === '' ? {} : { cot_output: collected.text }),
    ...(plan.returnStageMetrics ? { metrics: imageMetrics(collected) } : {}),
  };
}

/** Sends the images: as JSON, as a file, or as an archive of several. */
export function sendImages(
  life: ReplyLife,
  plan: ImagePlan,
  collected: CollectedRun,
  files: readonly Buffer[],
): void {
  const { truth, createdS } = life.accepted;
  if (collected.textTokens > 0) truth.note('text', { tokens: collected.textTokens });
  truth.note('image', { images: files.length });
  if (!plan.asFile) {
    sendJson(life, JSON.stringify(imagesBody(plan, collected, files, createdS)));
    return;
  }
  const extension = extensions[plan.format];
  const mark = randomBytes(4).toString('hex');
  const [first] = files;
  if (files.length === 1 && first !== undefined) {
    sendBytes(life, first, {
      'content-type': imageMimeTypes[plan.format],
      'content-disposition': `attachment; filename="image_${mark}.${extension}"`,
    });
    return;
  }
  sendBytes(life, zipStore(files.map((bytes, index) => ({ name: `image_${index}.${extension}`, bytes }))), {
    'content-type': 'application/zip',
    'content-disposition': `attachment; filename="images_${mark}.zip"`,
  });
}
