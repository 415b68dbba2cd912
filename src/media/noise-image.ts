import type { Random } from '../foundation/random.ts';
import type { NoiseSource } from './noise-source.ts';

/** A picture of noise. */
export type NoiseImage = { readonly widthPx: number; readonly heightPx: number };

const channels = 3;
/** What the reference's image library takes when nobody says more: this quality, colours at half size, fixed codes. */
const quality = 75;

/**
 * A JPEG of uniform random pixels. Equal random numbers give equal bytes; libuv's threads do the work.
 * @param noise in use until the picture is made
 */
export async function noiseJpeg(
  { widthPx, heightPx }: NoiseImage,
  random: Random,
  noise: NoiseSource,
): Promise<Buffer> {
  // Lazy: a native library that runs without images do not need.
  const { default: sharp } = await import('sharp');
  const pixels = noise.bytes(widthPx * heightPx * channels, random);
  return await sharp(pixels, { raw: { width: widthPx, height: heightPx, channels } })
    .jpeg({ quality, chromaSubsampling: '4:2:0', optimiseCoding: false })
    .toBuffer();
}
