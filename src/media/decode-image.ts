import { messageOf, OmnimeterError } from '../foundation/errors.ts';

/** Width and height of an image that was decoded to its last pixel. */
export type DecodedImage = { readonly format: string; readonly widthPx: number; readonly heightPx: number };

/** Bytes that do not decode to a picture. */
export class ImageDecodeError extends OmnimeterError {
  override readonly code: string = 'IMAGE_DECODE';
}

/**
 * Decodes an image completely, to prove that it is one; a cut or damaged file fails. The work is done in libuv's
 * threads, so that the event loop goes on meanwhile.
 * @throws ImageDecodeError
 */
export async function decodeImage(bytes: Uint8Array): Promise<DecodedImage> {
  if (bytes.length === 0) throw new ImageDecodeError('the image is empty');
  // Lazy: a native library that text and speech do not need.
  const { default: sharp } = await import('sharp');
  try {
    const image = sharp(bytes, { failOn: 'error', animated: false });
    const { format = 'unknown' } = await image.metadata();
    const { info } = await image.raw().toBuffer({ resolveWithObject: true });
    return { format, widthPx: info.width, heightPx: info.height };
  } catch (error) {
    throw new ImageDecodeError(`${bytes.length} bytes do not decode to an image (${messageOf(error)})`, {
      cause: error,
    });
  }
}
