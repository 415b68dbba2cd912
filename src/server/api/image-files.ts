import { drawImage, type ImageFormat } from '../../media/draw-image.ts';
import type { ImageDescriptor, ImagesArtifact, StageArtifact } from '../engine/stage-artifact.ts';

/** How images are encoded. */
export type ImageEncoding = { readonly format: ImageFormat; readonly quality: number };

function draw(
  { widthPx, heightPx, seed, encoded }: ImageDescriptor,
  encoding: ImageEncoding,
): Promise<Buffer> {
  return encoded === null
    ? drawImage({ widthPx, heightPx, seed, ...encoding })
    : Promise.resolve(encoded.bytes);
}

function keyOf({ widthPx, heightPx, seed }: ImageDescriptor): string {
  return `${widthPx}x${heightPx}:${seed}`;
}

/**
 * Draws the images of one reply, as soon as they are known: an image of a megapixel takes tens of ms, in which a
 * simulated stage may have finished.
 */
export class ImageFiles {
  readonly #encoding: ImageEncoding;
  readonly #drawn = new Map<string, Promise<Buffer>>();

  constructor(encoding: ImageEncoding) {
    this.#encoding = encoding;
  }

  /** Starts on what will come out. */
  prepare(planned: StageArtifact | null): void {
    if (planned?.kind !== 'images') return;
    for (const image of planned.images) void this.#of(image).catch(() => {});
  }

  /** The files, in order. */
  files(artifact: ImagesArtifact): Promise<Buffer[]> {
    return Promise.all(artifact.images.map((image) => this.#of(image)));
  }

  #of(image: ImageDescriptor): Promise<Buffer> {
    const key = keyOf(image);
    let drawn = this.#drawn.get(key);
    if (drawn === undefined || image.encoded !== null) {
      drawn = draw(image, this.#encoding);
      this.#drawn.set(key, drawn);
    }
    return drawn;
  }
}
