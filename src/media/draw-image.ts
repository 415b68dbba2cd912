import { randomStream } from '../foundation/random.ts';

/** Formats that images are made in. */
export const imageFormats = ['png', 'jpeg', 'webp'] as const;
export type ImageFormat = (typeof imageFormats)[number];

export const imageMimeTypes: Readonly<Record<ImageFormat, string>> = {
  png: 'image/png',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
};

/** An image to be made. */
export type ImageDescription = {
  readonly widthPx: number;
  readonly heightPx: number;
  /** Equal seeds give equal pictures. */
  readonly seed: number;
  readonly format: ImageFormat;
  /** 1 to 100, of JPEG and WebP; PNG is without loss. */
  readonly quality: number;
};

/** Colours that are drawn per side; the rest is blended between them. */
const gridSide = 6;
const channels = 3;
/** Quick to compress: a picture of this kind becomes hardly smaller with more effort. */
const pngEffort = 3;
const webpEffort = 1;

/** What the picture is blown up from: a few colours by the seed. */
function colourGrid(seed: number): Buffer {
  const random = randomStream(seed, 'image');
  return Buffer.from(Array.from({ length: gridSide * gridSide * channels }, () => random.integer(0, 255)));
}

/**
 * A picture of soft colours of exactly the size asked for. The work is done in libuv's threads, so that streams
 * of other requests go on meanwhile.
 */
export async function drawImage({
  widthPx,
  heightPx,
  seed,
  format,
  quality,
}: ImageDescription): Promise<Buffer> {
  // Lazy: a native library that text and speech do not need.
  const { default: sharp } = await import('sharp');
  const picture = sharp(colourGrid(seed), { raw: { width: gridSide, height: gridSide, channels } }).resize(
    widthPx,
    heightPx,
    { fit: 'fill', kernel: 'cubic' },
  );
  switch (format) {
    case 'png':
      return picture.png({ compressionLevel: pngEffort }).toBuffer();
    case 'jpeg':
      return picture.jpeg({ quality }).toBuffer();
    case 'webp':
      return picture.webp({ quality, effort: webpEffort }).toBuffer();
  }
}
