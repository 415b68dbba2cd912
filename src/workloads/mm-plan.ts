import { UsageError } from '../foundation/errors.ts';
import type { Random } from '../foundation/random.ts';
import { bucketKey, type MmBucket } from './mm-buckets.ts';

/** Something to be made of noise. */
export type MmItem =
  | { readonly kind: 'image'; readonly widthPx: number; readonly heightPx: number }
  | {
      readonly kind: 'video';
      readonly widthPx: number;
      readonly heightPx: number;
      readonly numFrames: number;
    }
  | { readonly kind: 'audio'; readonly durationS: number; readonly channels: number };

export type MmOptions = {
  /** Around which the items of a request are drawn. */
  readonly itemsPerRequest: number;
  /** In [0, 1]: items are uniform in n·(1 ± ratio). */
  readonly itemsRangeRatio: number;
  /** Most items of a modality in a request. */
  readonly limits: Readonly<Record<string, unknown>>;
  readonly buckets: readonly MmBucket[];
};

/** What the requests of a run are drawn from. */
export type MmPlan = {
  readonly minItems: number;
  readonly maxItems: number;
  /** Weights sum to 1, none is 0. */
  readonly choices: readonly { readonly item: MmItem; readonly weight: number }[];
  readonly limits: ReadonlyMap<MmItem['kind'], number>;
};

/** 10·(1 + 0.1) is 11.000000000000002 in floats; without the slack its ceiling would be 12. */
const slack = 1e-9;
/** Sides that JPEG and H.264 can have. */
const maxSidePx = 16_384;

function isCount(value: number, most: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= most;
}

function invalid(bucket: MmBucket, why: string): UsageError {
  return new UsageError(`Invalid multimodal item configuration: ${bucketKey(bucket)}\n${why}`);
}

function audioOf(bucket: MmBucket): MmItem {
  const { width: durationS, frames: channels } = bucket;
  if (!(durationS > 0) || !isCount(channels, 65_535))
    throw invalid(
      bucket,
      'A height of 0 means audio: (0, seconds, channels), seconds above 0, channels 1 or more.',
    );
  return { kind: 'audio', durationS, channels };
}

/** @throws UsageError for numbers that no image, video or sound has */
function itemOf(bucket: MmBucket): MmItem {
  const { height: heightPx, width: widthPx, frames } = bucket;
  if (heightPx === 0) return audioOf(bucket);
  if (!isCount(frames, 1_000_000))
    throw invalid(
      bucket,
      'The third number is 1 for an image, or the frames of a video. Sounds have the height 0.',
    );
  if (!isCount(heightPx, maxSidePx) || !isCount(widthPx, maxSidePx))
    throw invalid(bucket, `Height and width are whole numbers of pixels, 1 to ${maxSidePx}.`);
  if (frames === 1) return { kind: 'image', widthPx, heightPx };
  return { kind: 'video', widthPx, heightPx, numFrames: frames };
}

/** Videos are encoded with colours at half size, which takes even sides; only those that can be drawn matter. */
function checkMakeable(bucket: MmBucket, item: MmItem): void {
  if (item.kind !== 'video' || (item.widthPx % 2 === 0 && item.heightPx % 2 === 0)) return;
  const even = (px: number): number => px + (px % 2);
  throw invalid(
    bucket,
    `A video needs even sides, because its colours are stored at half size (yuv420p). Use (${even(item.heightPx)}, ${even(item.widthPx)}, ${item.numFrames}).`,
  );
}

function limitsOf(given: MmOptions['limits']): Map<string, number> {
  return new Map(
    Object.entries(given).map(([modality, limit]) => {
      if (typeof limit === 'number' && Number.isInteger(limit) && limit >= 0) return [modality, limit];
      throw new UsageError(
        `--random-mm-limit-mm-per-prompt: the limit of ${modality} is ${JSON.stringify(limit)}, expected a whole number, 0 or more.`,
      );
    }),
  );
}

type Choice = { readonly bucket: MmBucket; readonly item: MmItem };

/** Buckets with a weight above 0, weights summing to 1. */
function weighted(choices: readonly Choice[]): MmPlan['choices'] {
  if (choices.some(({ bucket }) => bucket.weight < 0))
    throw new UsageError('Bucket config values must be non-negative.');
  const drawn = choices.filter(({ bucket }) => bucket.weight > 0);
  const sum = drawn.reduce((total, { bucket }) => total + bucket.weight, 0);
  if (drawn.length === 0)
    throw new UsageError('Got invalid bucket config. Bucket config values must be non-zero.');
  return drawn.map(({ bucket, item }) => {
    checkMakeable(bucket, item);
    return { item, weight: bucket.weight / sum };
  });
}

/**
 * Checks the configuration as the reference does, step by step, and works out the number of items.
 * @throws UsageError with the reference's wording
 */
export function mmPlan({ itemsPerRequest, itemsRangeRatio, limits, buckets }: MmOptions): MmPlan {
  if (!(itemsRangeRatio >= 0 && itemsRangeRatio <= 1))
    throw new UsageError('num_mm_items_range_ratio must be in [0, 1].');
  const given = limitsOf(limits);
  const choices = buckets.map((bucket): Choice => {
    const item = itemOf(bucket);
    if (given.has(item.kind)) return { bucket, item };
    throw new UsageError(
      `Modality ${item.kind} is not in limit_mm_per_prompt: [${[...given.keys()].map((key) => `'${key}'`).join(', ')}]\n` +
        `Give --random-mm-limit-mm-per-prompt a limit for it, e.g. {"${item.kind}": 1}, or leave ${bucketKey(bucket)} out of --random-mm-bucket-config.`,
    );
  });
  const weightedChoices = weighted(choices);
  const present = new Map(weightedChoices.map(({ item }) => [item.kind, given.get(item.kind) ?? 0]));
  if (present.size === 0) throw new UsageError('No valid limits for modalities present in bucket_config.');
  const room = [...present.values()].reduce((sum, limit) => sum + limit, 0);
  const maxItems = Math.min(room, Math.max(0, Math.ceil(itemsPerRequest * (1 + itemsRangeRatio) - slack)));
  const minItems = Math.max(0, Math.floor(itemsPerRequest * (1 - itemsRangeRatio) + slack));
  if (minItems > maxItems)
    throw new UsageError(
      `Min num mm items is greater than max mm items: ${minItems} > ${maxItems}\n` +
        `The limits of the modalities that are drawn allow ${room} items a request. Raise --random-mm-limit-mm-per-prompt or lower --random-mm-base-items-per-request.`,
    );
  return { minItems, maxItems, choices: weightedChoices, limits: present };
}

/** One of the choices by its weight, among those that are left. */
function pick(choices: MmPlan['choices'], random: Random): MmItem | null {
  let left = random.uniform() * choices.reduce((sum, { weight }) => sum + weight, 0);
  for (const { item, weight } of choices) {
    left -= weight;
    if (left < 0) return item;
  }
  return choices.at(-1)?.item ?? null;
}

/**
 * The items of one request: a uniform number of them, drawn by weight. A modality that has reached its limit drops
 * out, and the others share its weight.
 */
export function drawMmItems(plan: MmPlan, random: Random): MmItem[] {
  const count = random.integer(plan.minItems, plan.maxItems);
  const items: MmItem[] = [];
  let open = plan.choices;
  while (items.length < count && open.length > 0) {
    const item = pick(open, random);
    if (item === null) break;
    const taken = items.filter(({ kind }) => kind === item.kind).length;
    if (taken < (plan.limits.get(item.kind) ?? 0)) items.push(item);
    else open = open.filter((choice) => choice.item.kind !== item.kind);
  }
  return items;
}
