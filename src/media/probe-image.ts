import { messageOf, OmnimeterError } from '../foundation/errors.ts';

/** What the first bytes of an image say of it. */
export type ImageFacts = { readonly format: string; readonly widthPx: number; readonly heightPx: number };

/** Bytes that are no image, or one that is too large to be let in. */
export class ImageProbeError extends OmnimeterError {
  override readonly code: string = 'IMAGE_PROBE';
}

/** Formats that models take. SVG, PDF and the like are programs rather than pictures. */
const acceptedFormats = ['png', 'jpeg', 'webp', 'gif', 'heif', 'tiff'];

/**
 * Reads size and format from an image's header; no pixel is unpacked, so that a small file of a giant picture
 * costs nothing.
 * @param mostPixels largest width · height
 * @throws ImageProbeError
 */
export async function probeImage(bytes: Buffer, mostPixels: number): Promise<ImageFacts> {
  if (bytes.length === 0) throw new ImageProbeError('the image is empty');
  const { default: sharp } = await import('sharp');
  let facts: { format?: string; width?: number; height?: number };
  try {
    facts = await sharp(bytes, { limitInputPixels: false, animated: false }).metadata();
  } catch (error) {
    throw new ImageProbeError(`not an image that can be read (${messageOf(error)})`, { cause: error });
  }
  const { format = 'unknown', width = 0, height = 0 } = facts;
  if (!acceptedFormats.includes(format))
    throw new ImageProbeError(`images of format ${format} are not taken; send PNG, JPEG, WebP or GIF`);
  if (width < 1 || height < 1) throw new ImageProbeError('the image has no pixels');
  if (width * height > mostPixels)
    throw new ImageProbeError(
      `the image is ${width}x${height} px, more than the ${mostPixels} pixels allowed`,
    );
  return { format, widthPx: width, heightPx: height };
}
