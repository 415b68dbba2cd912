import { sizePattern } from '../../protocol/diffusion.ts';
import { RequestError } from './request-error.ts';

/** Size of an image or video; `null` = the model's own. */
export type WantedSize = { readonly widthPx: number; readonly heightPx: number } | null;

/**
 * The size that a request asks for: `size` wins over `width` and `height`, which count together only.
 * @throws RequestError 400 for what is no size, or more pixels than the server makes
 */
export function wantedSize(
  request: {
    readonly size?: string | null | undefined;
    readonly width?: number | null | undefined;
    readonly height?: number | null | undefined;
  },
  mostPixels: number,
): WantedSize {
  const { size, width, height } = request;
  let wanted: WantedSize = null;
  if (size !== null && size !== undefined && size !== '') {
    if (!sizePattern.test(size))
      throw new RequestError(
        400,
        `size must be WIDTHxHEIGHT in pixels, e.g. 1024x1024; got "${size}".`,
        'size',
      );
    const [widthPx = 0, heightPx = 0] = size.split('x').map(Number);
    wanted = { widthPx, heightPx };
  } else if (typeof width === 'number' && typeof height === 'number') {
    wanted = { widthPx: width, heightPx: height };
  }
  if (wanted !== null && wanted.widthPx * wanted.heightPx > mostPixels)
    throw new RequestError(
      400,
      `size: ${wanted.widthPx}x${wanted.heightPx} are more than the ${mostPixels} pixels that this server makes.`,
      'size',
    );
  return wanted;
}

/** Fields that a task names itself. */
const named = new Set([
  'model',
  'prompt',
  'negative_prompt',
  'size',
  'width',
  'height',
  'num_inference_steps',
  'guidance_scale',
  'true_cfg_scale',
  'seed',
  'n',
  'stream',
  'response_format',
  'return_stage_metrics',
  'extra_body',
]);

/** What else was asked for, by its name in the API. */
export function extraFields(request: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(request).filter(([name]) => !named.has(name)));
}
