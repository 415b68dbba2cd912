import { OmnimeterError } from '../../foundation/errors.ts';
import { probeClip } from '../../media/probe-clip.ts';
import { probeImage } from '../../media/probe-image.ts';
import type { MediaReference } from '../engine/stage-task.ts';
import type { ApiContext } from './api-context.ts';
import { mediaBytes } from './media-source.ts';
import { RequestError } from './request-error.ts';

type Rules = Pick<ApiContext, 'limits' | 'localMediaRoot'>;

function refused(error: unknown, param: string): unknown {
  return error instanceof OmnimeterError && !(error instanceof RequestError)
    ? new RequestError(400, `${param}: ${error.message}.`, param)
    : error;
}

/**
 * Reads the header of an image that came with a request.
 * @throws RequestError 400 for what is no image, or too large a one
 */
export async function imageReference(
  bytes: Buffer,
  param: string,
  { limits }: Rules,
): Promise<MediaReference> {
  try {
    const { widthPx, heightPx } = await probeImage(bytes, limits.imagePixels);
    return { kind: 'image', widthPx, heightPx, durationS: null, bytes };
  } catch (error) {
    throw refused(error, param);
  }
}

/**
 * Reads the container of a sound or video that came with a request.
 * @throws RequestError 400 for what is neither, or too long or large
 */
export async function clipReference(
  kind: 'audio' | 'video',
  bytes: Buffer,
  param: string,
  { limits }: Rules,
): Promise<MediaReference> {
  try {
    const { durationS, video, audio } = await probeClip(bytes);
    if (durationS > limits.mediaS)
      throw new RequestError(400, `${param}: longer than ${limits.mediaS} s.`, param);
    if (kind === 'audio' && audio === null) throw new RequestError(400, `${param}: it has no sound.`, param);
    if (kind === 'video' && video === null)
      throw new RequestError(400, `${param}: it has no picture.`, param);
    if (video !== null && video.widthPx * video.heightPx > limits.imagePixels)
      throw new RequestError(400, `${param}: ${video.widthPx}x${video.heightPx} px are too many.`, param);
    return {
      kind,
      widthPx: kind === 'video' ? (video?.widthPx ?? null) : null,
      heightPx: kind === 'video' ? (video?.heightPx ?? null) : null,
      durationS,
      bytes,
    };
  } catch (error) {
    throw refused(error, param);
  }
}

/** Fetches media by URL and reads their header. */
export async function referenceFromUrl(
  kind: MediaReference['kind'],
  url: string,
  param: string,
  rules: Rules,
): Promise<MediaReference> {
  const bytes = await mediaBytes(url, param, rules);
  return kind === 'image' ? imageReference(bytes, param, rules) : clipReference(kind, bytes, param, rules);
}
