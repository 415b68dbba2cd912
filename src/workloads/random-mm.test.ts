import { describe, expect, test } from 'vitest';
import { UsageError } from '../foundation/errors.ts';
import { probeClip } from '../media/probe-clip.ts';
import { probeImage } from '../media/probe-image.ts';
import type { DatasetOptions, LoadContext } from './dataset.ts';
import { testContext } from './load-context.suite.ts';
import { parseMmBuckets } from './mm-buckets.ts';
import { randomMm } from './random-mm.ts';
import type { ContentPart } from './sample.ts';

const guide = parseMmBuckets('{"(32, 32, 1)": 0.5, "(0, 1, 1)": 0.1, "(32, 32, 2)":0.4}');
const mixed: DatasetOptions['randomMm'] = {
  itemsPerRequest: 2,
  itemsRangeRatio: 0,
  limits: { image: 1, video: 1, audio: 1 },
  buckets: guide,
  videoEncoder: 'built-in',
  audioMime: 'audio/wav',
};

function contextOf(
  mm: Partial<DatasetOptions['randomMm']> = {},
  options: Partial<DatasetOptions> = {},
  more: Partial<LoadContext> = {},
) {
  const randomMm = { ...mixed, ...mm };
  return testContext(
    { name: 'random-mm', randomInputLen: 5, randomMm, ...options },
    { numPrompts: 12, ...more },
  );
}

/** A part's MIME type and bytes. */
function mediumOf(part: ContentPart | undefined): { mime: string; bytes: Buffer } {
  const source = part?.[part.type];
  const url = typeof source === 'object' && source !== null && 'url' in source ? String(source.url) : '';
  const [, mime = '', base64 = ''] = /^data:([^;]+);base64,(.*)$/.exec(url) ?? [];
  return { mime, bytes: Buffer.from(base64, 'base64') };
}

describe('random-mm', () => {
  test('puts real media beside texts of the length asked for', async () => {
    const context = contextOf({}, { randomOutputLen: 9 });
    const samples = await randomMm.load(context);
    expect(samples.map(({ requestId }) => requestId)).toEqual(samples.map((_, index) => `bench-${index}`));
    const seen = new Set<string>();
    for (const sample of samples) {
      // The tokenizer adds one special token, which counts as input.
      expect(sample.promptTokens).toBe(4);
      expect(sample.expectedOutputTokens).toBe(9);
      expect(sample.media).toHaveLength(2);
      expect(new Set(sample.media.map(({ type }) => type)).size).toBe(2);
      for (const part of sample.media) {
        const { mime, bytes } = mediumOf(part);
        seen.add(mime);
        if (mime === 'image/jpeg') {
          expect(await probeImage(bytes, 1e6)).toEqual({ format: 'jpeg', widthPx: 32, heightPx: 32 });
          continue;
        }
        expect(await probeClip(bytes)).toMatchObject(
          mime === 'audio/wav'
            ? { durationS: 1, video: null, audio: { sampleRateHz: 48_000, channels: 1 } }
            : { durationS: 2 / 30, video: { widthPx: 32, heightPx: 32 }, audio: null },
        );
      }
    }
    expect([...seen].sort()).toEqual(['audio/wav', 'image/jpeg', 'video/mp4']);
  });

  test('gives the same requests for the same seed, and others for another', async () => {
    const requests = async (seed: number) => JSON.stringify(await randomMm.load(contextOf({}, {}, { seed })));
    const first = await requests(1);
    expect(await requests(1)).toBe(first);
    expect(await requests(2)).not.toBe(first);
  });

  test('announces sounds as the reference does where it is asked to', async () => {
    const context = contextOf({
      audioMime: 'audio/mpeg',
      itemsPerRequest: 1,
      buckets: parseMmBuckets('{(0, 0.1, 5): 1}'),
    });
    const { mime, bytes } = mediumOf((await randomMm.load(context))[0]?.media[0]);
    expect(mime).toBe('audio/mpeg');
    expect(bytes.toString('latin1', 0, 4)).toBe('RIFF');
  });

  test('makes whole messages with --enable-multimodal-chat', async () => {
    const plain = await randomMm.load(contextOf());
    const whole = await randomMm.load(contextOf({}, { enableMultimodalChat: true }));
    for (const [index, sample] of whole.entries()) {
      const content = [{ type: 'text', text: plain[index]?.prompt }, ...(plain[index]?.media ?? [])];
      expect(sample.media).toEqual([]);
      expect(sample.chatMessages).toEqual([{ role: 'user', content }]);
    }
  });

  test('asks the endpoint before anything is made', async () => {
    const kinds: string[] = [];
    const tryOut: LoadContext['tryOut'] = ({ media }) => {
      kinds.push(...media.map(({ type }) => type));
      throw new UsageError('text only');
    };
    const huge = parseMmBuckets('{(16384, 16384, 1000): 1, (0, 1, 1): 0}');
    await expect(
      randomMm.load(contextOf({ buckets: huge, itemsPerRequest: 1 }, {}, { tryOut })),
    ).rejects.toThrow('text only');
    expect(kinds).toEqual(['video_url']);
  });

  test('may have no media at all', async () => {
    const samples = await randomMm.load(contextOf({ itemsPerRequest: 0 }));
    expect(samples.every(({ media }) => media.length === 0)).toBe(true);
  });

  test('says which encoder it takes, where nobody chose', async () => {
    const path = process.env.PATH;
    try {
      process.env.PATH = '/nowhere';
      const context = contextOf({ videoEncoder: 'auto' });
      await randomMm.load(context);
      expect(context.notes).toEqual([
        expect.stringMatching(
          /encoded by this program itself, for there is no ffmpeg on the PATH.*--random-mm-video-encoder/,
        ),
        expect.stringMatching(
          /^random-mm: \d+ images, \d+ videos, \d+ sounds, \d+\.\d MB, made in \d+\.\d\d s\.$/,
        ),
      ]);
      await expect(randomMm.load(contextOf({ videoEncoder: 'ffmpeg' }))).rejects.toThrow(
        /--random-mm-video-encoder ffmpeg: there is no ffmpeg on the PATH. Install .*apt-get install ffmpeg/,
      );
    } finally {
      process.env.PATH = path;
    }
  });
});
