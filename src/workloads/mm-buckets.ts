import { UsageError } from '../foundation/errors.ts';

/** A kind of media item and how often it is drawn: the key of the configuration as three numbers. */
export type MmBucket = {
  readonly height: number;
  readonly width: number;
  /** 1 = an image, more = the frames of a video; with height 0, the channels of a sound of `width` seconds. */
  readonly frames: number;
  /** As it was given; not normalised. */
  readonly weight: number;
};

/** The reference's: small and HD images alike; HD videos only where they are given a weight. */
export const defaultMmBuckets: readonly MmBucket[] = [
  { height: 256, width: 256, frames: 1, weight: 0.5 },
  { height: 720, width: 1280, frames: 1, weight: 0.5 },
  { height: 720, width: 1280, frames: 16, weight: 0 },
];

/** A bucket's key as it is written: `(720, 1280, 16)`. */
export function bucketKey({ height, width, frames }: MmBucket): string {
  return `(${height}, ${width}, ${frames})`;
}

const number = String.raw`[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?`;
/** `256, 256, 1`, with or without brackets. */
const keyForm = new RegExp(
  String.raw`^[([]?\s*(${number})\s*,\s*(${number})\s*,\s*(${number})\s*,?\s*[)\]]?$`,
);
/** A key that is text, as in JSON, or a tuple, as in Python; then its value. */
const entryForm = /\s*(?:"([^"]*)"|'([^']*)'|(\([^()]*\)))\s*:\s*([^\s,{}]+)\s*(,|$)/y;

function wrong(message: string): UsageError {
  return new UsageError(
    `--random-mm-bucket-config: ${message}. Expected keys of three numbers, (height, width, frames) or ` +
      '(0, seconds, channels), and numbers as values: {(256, 256, 1): 0.7, (720, 1280, 16): 0.2, (0, 1, 1): 0.1}, or ' +
      'the same as JSON with keys in quotes.',
  );
}

function bucketOf(key: string, value: string): MmBucket {
  const parts = keyForm.exec(key.trim());
  if (parts === null) throw wrong(`'${key}' is no key`);
  if (!new RegExp(`^${number}$`).test(value)) throw wrong(`the value of ${key} is ${value}, not a number`);
  const [height = 0, width = 0, frames = 0] = parts.slice(1).map(Number);
  return { height, width, frames, weight: Number(value) };
}

/**
 * Reads a bucket configuration: JSON with keys in quotes, or a Python dict whose keys are tuples. As in both, the
 * last of equal keys counts, in the place of the first.
 * @throws UsageError
 */
export function parseMmBuckets(text: string): readonly MmBucket[] {
  const inner = /^\s*\{([\s\S]*)\}\s*$/.exec(text)?.[1]?.trim();
  if (inner === undefined) throw wrong(`'${text}' is no dictionary`);
  const buckets = new Map<string, MmBucket>();
  entryForm.lastIndex = 0;
  while (entryForm.lastIndex < inner.length) {
    const at = entryForm.lastIndex;
    const entry = entryForm.exec(inner);
    if (entry === null) throw wrong(`cannot read '${inner.slice(at).trim()}'`);
    const bucket = bucketOf(entry[1] ?? entry[2] ?? entry[3] ?? '', entry[4] ?? '');
    buckets.set(bucketKey(bucket), bucket);
  }
  return [...buckets.values()];
}
