import { nowMs } from '../foundation/clock.ts';
import { decodeImage, ImageDecodeError } from '../media/decode-image.ts';
import { ImageProbeError, probeImage } from '../media/probe-image.ts';
import { decodeBase64 } from './decode-base64.ts';
import { asObject, asText } from './json-values.ts';
import { generationMsOf } from './reply-facts.ts';

/** What the images of a reply turned out to be. */
export type ImagePayload = {
  /** Images that can be read. */
  readonly count: number;
  /** Sum of width × height. */
  readonly pixels: number;
  /** Items that hold no readable image. */
  readonly broken: number;
  /** Those of them whose base64 is cut or broken, so that there was no image to look at. */
  readonly undecoded: number;
  /** Bytes of all items after base64. */
  readonly bytes: number;
  /** Largest `…_gen_ms` of the first item that has one, ms; `null` = none has. */
  readonly generationMs: number | null;
  /** What decoding the first image took, without waiting for its turn, ms. */
  readonly decodeMs: number;
};

/** Decodes under way at once in this thread: libuv's few threads also look up names and read files. */
const mostDecodes = 2;

/** Lets a few pieces of work run at once, first come first served. */
class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#free = most;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}

const turns = new Turns(mostDecodes);

/**
 * Looks at the `data` items of an image reply. The first readable one is decoded to its last pixel, which proves that
 * the reply is what it claims to be; of the others the header is read. Only `b64_json` counts: what a URL leads to was
 * not received.
 */
export async function readImages(items: readonly unknown[]): Promise<ImagePayload> {
  const found = { count: 0, pixels: 0, broken: 0, undecoded: 0, bytes: 0, decodeMs: 0 };
  let generationMs: number | null = null;
  for (const item of items) {
    const fields = asObject(item);
    generationMs ??= generationMsOf(fields?.stage_durations);
    const base64 = asText(fields?.b64_json) ?? '';
    const bytes = base64 === '' ? null : decodeBase64(base64, { mayLackPadding: true });
    if (base64 !== '' && bytes === null) found.undecoded += 1;
    found.bytes += bytes?.length ?? 0;
    const size = bytes === null ? null : await sizeOf(bytes, found.count === 0);
    if (size === null) found.broken += 1;
    else {
      found.count += 1;
      found.pixels += size.pixels;
      found.decodeMs += size.decodeMs;
    }
  }
  return { ...found, generationMs };
}

/** Loads the decoder and runs it once; a machine that can't decode images says so here, before the run. */
export async function warmUpImages(): Promise<void> {
  await decodeImage(Buffer.from(onePixelPng, 'base64'));
}

async function sizeOf(
  bytes: Buffer,
  decode: boolean,
): Promise<{ readonly pixels: number; readonly decodeMs: number } | null> {
  try {
    if (!decode) {
      const { widthPx, heightPx } = await probeImage(bytes, Number.POSITIVE_INFINITY);
      return { pixels: widthPx * heightPx, decodeMs: 0 };
    }
    return await turns.take(async () => {
      const startMs = nowMs();
      const { widthPx, heightPx } = await decodeImage(bytes);
      return { pixels: widthPx * heightPx, decodeMs: nowMs() - startMs };
    });
  } catch (error) {
    if (error instanceof ImageDecodeError || error instanceof ImageProbeError) return null;
    throw error;
  }
}

const onePixelPng =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
