import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { drawVideo, type VideoDescription } from './draw-video.ts';
import { frameTicks } from './mp4-video-track.ts';

const plain: VideoDescription = { widthPx: 832, heightPx: 480, numFrames: 33, fps: 24, seed: 1, audio: null };

/** What a muxer that is not ours reads back, packet by packet. */
async function readBack(bytes: Buffer) {
  const { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } = await import('mediabunny');
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(new Uint8Array(bytes)) });
  const track = await input.getPrimaryVideoTrack();
  if (track === null) throw new Error('no video track');
  const times: number[] = [];
  const keys: number[] = [];
  for await (const packet of new EncodedPacketSink(track).packets()) {
    if (packet.type === 'key') keys.push(times.length);
    times.push(packet.timestamp);
  }
  const sound = await input.getPrimaryAudioTrack();
  return {
    durationS: await track.computeDuration(),
    codec: track.codec,
    widthPx: track.displayWidth,
    heightPx: track.displayHeight,
    times,
    keys,
    soundS: sound === null ? null : await sound.computeDuration(),
    soundCodec: sound?.codec ?? null,
  };
}

test.each([
  [33, 24],
  [81, 16],
  [50, 23.976],
  [90, 29.97],
  [10, 30000 / 1001],
  [7, 7.5],
  [1, 1],
])('%d frames at %d per second are exactly that', async (numFrames, fps) => {
  const read = await readBack(await drawVideo({ ...plain, numFrames, fps }));
  expect(read.codec).toBe('avc');
  expect(read.times).toHaveLength(numFrames);
  expect(read.durationS).toBeCloseTo(numFrames / fps, 4);
  for (const [index, time] of read.times.entries()) expect(time).toBeCloseTo(index / fps, 4);
  expect([read.widthPx, read.heightPx]).toEqual([832, 480]);
});

test.each([
  [24, 24, 1],
  [30000 / 1001, 30000, 1001],
  [23.976, 23976, 1000],
  [7.5, 75, 10],
  [Math.PI, 1_000_000, 318310],
])('%d frames per second are a quotient of whole numbers', (fps, timescale, ticksPerSample) => {
  expect(frameTicks(fps)).toEqual({ timescale, ticksPerSample });
});

// ffmpeg -i video.mp4 -f rawvideo -pix_fmt yuv420p - | md5sum (FFmpeg 5.1.9), which reports no error for any.
test.each([
  [
    'one block and odd multiples',
    { widthPx: 16, heightPx: 18, numFrames: 5 },
    '380908103fb214b9e2744acc703b962b',
  ],
  [
    'cropped at both borders',
    { widthPx: 642, heightPx: 362, numFrames: 60 },
    'ba85766e808bc9b6be834204492848f0',
  ],
  [
    'several key pictures',
    { widthPx: 256, heightPx: 256, numFrames: 150 },
    '279a9d1f01df0eb1019214b122fcb713',
  ],
])('decodes elsewhere as it did when it was checked: %s', async (_case, size, md5) => {
  const bytes = await drawVideo({ ...plain, ...size });
  expect(createHash('md5').update(bytes).digest('hex')).toBe(md5);
});

test('may have sound, as long as its samples', async () => {
  const pcm = Buffer.alloc(36000 * 2, Buffer.from([0, 16, 0, 240]));
  const read = await readBack(
    await drawVideo({ ...plain, audio: { pcm, format: { sampleRateHz: 24000, channels: 1 } } }),
  );
  expect(read.soundCodec).toBe('aac');
  // Whole frames of 1,024 samples behind the end of what is heard.
  expect(read.soundS).toBeGreaterThanOrEqual(1.5);
  expect(read.soundS).toBeLessThan(1.5 + 2 * (1024 / 24000));
});

test('is the same for the same seed, and another for another', async () => {
  const [first, again, other] = await Promise.all([
    drawVideo(plain),
    drawVideo(plain),
    drawVideo({ ...plain, seed: 2 }),
  ]);
  expect(again.equals(first)).toBe(true);
  expect(other.equals(first)).toBe(false);
});

test.each([
  { widthPx: 15 },
  { heightPx: 0 },
  { widthPx: 20000 },
  { numFrames: 0 },
  { fps: 0 },
  { fps: Number.NaN },
])('refuses %o', async (wrong) => {
  await expect(drawVideo({ ...plain, ...wrong })).rejects.toThrow(RangeError);
});
