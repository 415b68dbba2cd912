import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { randomStream } from '../foundation/random.ts';
import { bucketKey, defaultMmBuckets, type MmBucket, parseMmBuckets } from './mm-buckets.ts';
import { drawMmItems, type MmOptions, mmPlan } from './mm-plan.ts';

const bucket = (height: number, width: number, frames: number, weight: number): MmBucket => ({
  height,
  width,
  frames,
  weight,
});

describe('a bucket configuration', () => {
  const three = [bucket(32, 32, 1, 0.5), bucket(0, 1, 1, 0.1), bucket(32, 32, 2, 0.4)];

  test.each([
    ['the guide’s JSON', '{"(32, 32, 1)": 0.5, "(0, 1, 1)": 0.1, "(32, 32, 2)":0.4}', three],
    ['a Python dict', '{(32, 32, 1): 0.5, (0, 1, 1): 0.10, (32,32,2): .4}', three],
    ['a Python dict with text keys', "{'(32, 32, 1)': 0.5, '(0, 1, 1)': 1e-1, '(32, 32, 2)': 0.4,}", three],
    ['keys without brackets', '{"32,32,1": 0.5, "[0, 1, 1]": 0.1, "( 32, 32, 2, )": 0.4}', three],
    ['several lines', '{\n  (32, 32, 1): 0.5,\n  (0, 1, 1): 0.1,\n  (32, 32, 2): 0.4,\n}', three],
    ['a fraction of a second', '{(0, 2.5, 2): 1}', [bucket(0, 2.5, 2, 1)]],
    [
      'the same key twice',
      '{(8, 8, 1): 1, (4, 4, 1): 2, (8, 8, 1): 3}',
      [bucket(8, 8, 1, 3), bucket(4, 4, 1, 2)],
    ],
    ['nothing', '{}', []],
  ])('%s', (_, text, expected) => {
    expect(parseMmBuckets(text)).toEqual(expected);
  });

  test.each([
    ['[1]', "'[1]' is no dictionary"],
    ['{"(32, 32)": 1}', "'(32, 32)' is no key"],
    ['{"(32, 32, x)": 1}', "'(32, 32, x)' is no key"],
    ['{(32, 32, 1): much}', 'the value of (32, 32, 1) is much, not a number'],
    ['{(32, 32, 1): "0.5"}', 'the value of (32, 32, 1) is "0.5", not a number'],
    ['{(32, 32, 1) 0.5}', "cannot read '(32, 32, 1) 0.5'"],
    ['{(32, 32, 1): 0.5 (1, 1, 1): 1}', "cannot read '(32, 32, 1): 0.5 (1, 1, 1): 1'"],
  ])('refused: %s', (text, message) => {
    expect(() => parseMmBuckets(text)).toThrow(message);
    expect(() => parseMmBuckets(text)).toThrow('--random-mm-bucket-config: ');
  });

  property([
    fc.uniqueArray(
      fc.record({
        height: fc.nat(4096),
        width: fc.nat(4096),
        frames: fc.nat(64),
        weight: fc.double({ min: 0, max: 1e6, noNaN: true }),
      }),
      { selector: bucketKey },
    ),
  ])('is read back as it was written, in both forms', (buckets) => {
    const entries = (quote: string) =>
      `{${buckets.map((each) => `${quote}${bucketKey(each)}${quote}: ${each.weight}`).join(', ')}}`;
    expect(parseMmBuckets(entries('"'))).toEqual(buckets);
    expect(parseMmBuckets(entries(''))).toEqual(buckets);
  });
});

const base: MmOptions = {
  itemsPerRequest: 1,
  itemsRangeRatio: 0,
  limits: { image: 255, video: 1 },
  buckets: defaultMmBuckets,
};
const draw = (options: Partial<MmOptions>, seed = 1) =>
  drawMmItems(mmPlan({ ...base, ...options }), randomStream(seed, 'test'));

describe('the plan of items', () => {
  test('by default: one image of either size, weights as given', () => {
    expect(mmPlan(base)).toEqual({
      minItems: 1,
      maxItems: 1,
      choices: [
        { item: { kind: 'image', widthPx: 256, heightPx: 256 }, weight: 0.5 },
        { item: { kind: 'image', widthPx: 1280, heightPx: 720 }, weight: 0.5 },
      ],
      limits: new Map([['image', 255]]),
    });
  });

  test('height 0 is audio before all else, and weights are normalised', () => {
    const plan = mmPlan({
      ...base,
      limits: { image: 1, audio: 2 },
      buckets: [bucket(0, 1, 1, 6), bucket(0, 1.5, 5, 1), bucket(8, 6, 1, 1)],
    });
    expect(plan.choices).toEqual([
      { item: { kind: 'audio', durationS: 1, channels: 1 }, weight: 0.75 },
      { item: { kind: 'audio', durationS: 1.5, channels: 5 }, weight: 0.125 },
      { item: { kind: 'image', widthPx: 6, heightPx: 8 }, weight: 0.125 },
    ]);
  });

  test.each([
    // base, ratio, room, min, max
    [2, 0, 3, 2, 2],
    [2, 0.5, 9, 1, 3],
    [3, 0.5, 9, 1, 5],
    [3, 0.5, 4, 1, 4],
    [10, 0.1, 99, 9, 11],
    [1, 1, 9, 0, 2],
    [0, 0, 9, 0, 0],
  ])(
    '%d items ± %d of at most %d are %d to %d',
    (itemsPerRequest, itemsRangeRatio, image, minItems, maxItems) => {
      expect(
        mmPlan({ itemsPerRequest, itemsRangeRatio, limits: { image }, buckets: [bucket(8, 8, 1, 1)] }),
      ).toMatchObject({ minItems, maxItems });
    },
  );

  // The order is that of the reference, so the first mistake of several is the one that is named.
  test.each<[string, Partial<MmOptions>, string]>([
    ['a ratio above 1', { itemsRangeRatio: 1.1, buckets: [] }, 'num_mm_items_range_ratio must be in [0, 1].'],
    ['a ratio that is none', { itemsRangeRatio: Number.NaN }, 'num_mm_items_range_ratio must be in [0, 1].'],
    ['no frame', { buckets: [bucket(8, 8, 0, 1)] }, 'Invalid multimodal item configuration: (8, 8, 0)'],
    [
      'half a frame',
      { buckets: [bucket(8, 8, 1.5, 1)] },
      'Invalid multimodal item configuration: (8, 8, 1.5)',
    ],
    ['no width', { buckets: [bucket(8, 0, 1, 1)] }, 'Invalid multimodal item configuration: (8, 0, 1)'],
    [
      'a negative height',
      { buckets: [bucket(-8, 8, 1, 1)] },
      'Invalid multimodal item configuration: (-8, 8, 1)',
    ],
    ['no second', { buckets: [bucket(0, 0, 1, 1)] }, 'Invalid multimodal item configuration: (0, 0, 1)'],
    [
      'audio without a limit, although it is never drawn',
      { buckets: [bucket(8, 8, 1, 1), bucket(0, 1, 1, 0)] },
      "Modality audio is not in limit_mm_per_prompt: ['image', 'video']",
    ],
    ['a negative weight', { buckets: [bucket(8, 8, 1, -1)] }, 'Bucket config values must be non-negative.'],
    [
      'only weights of 0',
      { buckets: [bucket(8, 8, 1, 0)] },
      'Got invalid bucket config. Bucket config values must be non-zero.',
    ],
    ['no bucket', { buckets: [] }, 'Got invalid bucket config. Bucket config values must be non-zero.'],
    [
      'odd sides of a video',
      { buckets: [bucket(33, 32, 2, 1)] },
      'A video needs even sides, because its colours are stored at half size (yuv420p). Use (34, 32, 2).',
    ],
    [
      'half an item',
      { limits: { image: 1.5, video: 1 } },
      'the limit of image is 1.5, expected a whole number',
    ],
    [
      'more items than the limits allow',
      { itemsPerRequest: 3, limits: { image: 2, video: 9 } },
      'Min num mm items is greater than max mm items: 3 > 2',
    ],
  ])('refused: %s', (_, options, message) => {
    expect(() => mmPlan({ ...base, ...options })).toThrow(message);
  });

  test('odd sides of a video that is never drawn do not matter', () => {
    expect(mmPlan({ ...base, buckets: [bucket(33, 33, 2, 0), bucket(33, 33, 1, 1)] }).choices).toHaveLength(
      1,
    );
  });
});

describe('drawing items', () => {
  const options = fc.record({
    itemsPerRequest: fc.nat(6),
    itemsRangeRatio: fc.double({ min: 0, max: 1, noNaN: true }),
    limits: fc.record({ image: fc.nat(4), video: fc.nat(4), audio: fc.nat(4) }),
    buckets: fc.uniqueArray(
      fc.record({
        height: fc.constantFrom(0, 8, 16),
        width: fc.constantFrom(2, 8),
        frames: fc.constantFrom(1, 2, 4),
        weight: fc.double({ min: 0.001, max: 9, noNaN: true }),
      }),
      { selector: bucketKey, minLength: 1 },
    ),
  });

  property([options, fc.integer()])(
    'keeps to the number and to every limit, and only draws what has a weight',
    (given, seed) => {
      let plan: ReturnType<typeof mmPlan>;
      try {
        plan = mmPlan(given);
      } catch (error) {
        expect(String(error)).toContain('Min num mm items is greater than max mm items');
        return;
      }
      const items = drawMmItems(plan, randomStream(seed, 'test'));
      expect(items.length).toBeGreaterThanOrEqual(plan.minItems);
      expect(items.length).toBeLessThanOrEqual(plan.maxItems);
      for (const [modality, limit] of Object.entries(given.limits))
        expect(items.filter(({ kind }) => kind === modality).length).toBeLessThanOrEqual(limit);
      for (const item of items) expect(plan.choices.map((choice) => choice.item)).toContainEqual(item);
      expect(drawMmItems(plan, randomStream(seed, 'test'))).toEqual(items);
    },
  );

  test('is as likely as the weights say', () => {
    const plan = mmPlan({
      ...base,
      limits: { image: 1, video: 1, audio: 1 },
      buckets: [bucket(8, 8, 1, 0.5), bucket(0, 1, 1, 0.1), bucket(8, 8, 2, 0.4)],
    });
    const random = randomStream(3, 'test');
    const counts = { image: 0, video: 0, audio: 0 };
    for (let i = 0; i < 20_000; i += 1) for (const { kind } of drawMmItems(plan, random)) counts[kind] += 1;
    // Five standard deviations of a binomial share of 20,000 are at most 354.
    expect(Math.abs(counts.image - 10_000)).toBeLessThan(354);
    expect(Math.abs(counts.video - 8000)).toBeLessThan(354);
    expect(Math.abs(counts.audio - 2000)).toBeLessThan(212);
  });

  test('renormalises once a modality is full', () => {
    // The second of two items: where the first was the image (0.5), video and audio are left at 0.4 : 0.1.
    const plan = mmPlan({
      ...base,
      itemsPerRequest: 2,
      limits: { image: 1, video: 2, audio: 2 },
      buckets: [bucket(8, 8, 1, 0.5), bucket(0, 1, 1, 0.1), bucket(8, 8, 2, 0.4)],
    });
    const random = randomStream(4, 'test');
    const second = { image: 0, video: 0, audio: 0 };
    for (let i = 0; i < 20_000; i += 1) {
      const [first, next] = drawMmItems(plan, random);
      if (first?.kind === 'image' && next) second[next.kind] += 1;
    }
    expect(second.image).toBe(0);
    expect(second.video / (second.video + second.audio)).toBeCloseTo(0.8, 1);
  });

  test('takes every number in its range', () => {
    const lengths = new Set(
      Array.from({ length: 200 }, (_, seed) => draw({ itemsPerRequest: 2, itemsRangeRatio: 1 }, seed).length),
    );
    expect([...lengths].sort()).toEqual([0, 1, 2, 3, 4]);
  });
});
