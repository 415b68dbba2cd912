import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomStream } from '../foundation/random.ts';
import type { NoiseVideo } from './h264-noise.ts';
import { noiseWav } from './noise-audio.ts';
import { noiseJpeg } from './noise-image.ts';
import { NoiseSource } from './noise-source.ts';
import { noiseVideo, type VideoEncoder } from './noise-video.ts';

const hasFfmpeg = spawnSync('ffprobe', ['-version']).status === 0;
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'omnimeter-noise-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const stream = (seed: number) => randomStream(seed, 'test');
const md5 = (bytes: Buffer) => createHash('md5').update(bytes).digest('hex');

describe('noise', () => {
  test('is uniform, whatever the length, and its own for each seed', () => {
    const noise = new NoiseSource();
    const bytes = Buffer.from(noise.bytes(256 * 400 + 3, stream(1)));
    const counts = new Array<number>(256).fill(0);
    for (const byte of bytes) counts[byte] = (counts[byte] ?? 0) + 1;
    // Chi squared with 255 degrees of freedom: beyond 400 once in 10⁸ times.
    const chiSquared = counts.reduce((sum, count) => sum + (count - 400) ** 2 / 400, 0);
    expect(chiSquared).toBeLessThan(400);
    expect(bytes.equals(noise.bytes(bytes.length, stream(2)))).toBe(false);
    expect(bytes.subarray(0, 99).equals(noise.bytes(99, stream(1)))).toBe(true);
  });
});

test('noise does not compress, as a whole or in any plane of bits', () => {
  const bytes = Buffer.from(new NoiseSource().bytes(1 << 20, stream(1)));
  expect(deflateSync(bytes).length / bytes.length).toBeGreaterThan(0.999);
  for (let word = 0; word < 4; word += 1) {
    for (let bit = 0; bit < 32; bit += 1) {
      // One bit of each fourth word, which is one generator's, packed eight to a byte.
      const plane = Buffer.alloc(8192);
      for (let at = 0; at < 65_536; at += 1) {
        const set = (bytes.readUInt32LE((at * 4 + word) * 4) >>> bit) & 1;
        plane[at >> 3] = (plane[at >> 3] ?? 0) | (set << (at & 7));
      }
      expect(deflateSync(plane).length, `word ${word}, bit ${bit}`).toBeGreaterThan(8192 * 0.99);
    }
  }
});

describe('a picture of noise', () => {
  test('is a JPEG of the size asked for, 4:2:0, and hard to compress', async () => {
    const bytes = await noiseJpeg({ widthPx: 333, heightPx: 98 }, stream(1), new NoiseSource());
    const { default: sharp } = await import('sharp');
    expect(await sharp(bytes).metadata()).toMatchObject({
      format: 'jpeg',
      width: 333,
      height: 98,
      chromaSubsampling: '4:2:0',
    });
    const { channels } = await sharp(bytes).stats();
    expect(channels).toHaveLength(3);
    for (const { stdev } of channels) expect(stdev).toBeGreaterThan(30);
    expect(bytes.length / (333 * 98)).toBeGreaterThan(0.4);
  });

  test('is the same for the same seed, also when many are made at once', async () => {
    const size = { widthPx: 64, heightPx: 48 };
    const make = (seed: number) => noiseJpeg(size, stream(seed), new NoiseSource());
    const together = await Promise.all(Array.from({ length: 12 }, (_, seed) => make(seed % 6)));
    for (const [index, bytes] of together.entries())
      expect(bytes.equals(await make(index % 6)), `seed ${index % 6}`).toBe(true);
    expect(new Set(together.map(md5)).size).toBe(6);
  });
});

describe('a sound of noise', () => {
  const script = `
import io, json, sys, wave, array
w = wave.open(io.BytesIO(sys.stdin.buffer.read()), 'rb')
a = array.array('h', w.readframes(w.getnframes()))
print(json.dumps([w.getnchannels(), w.getsampwidth(), w.getframerate(), w.getnframes(), min(a), max(a)]))`;
  const python = spawnSync('python3', ['-c', 'import wave']).status === 0;
  test.skipIf(!python).each([
    [{ durationS: 1, channels: 5 }, 48_000],
    [{ durationS: 0.25, channels: 1 }, 12_000],
  ])('is read by another program: %o', (sound, frames) => {
    const { stdout } = spawnSync('python3', ['-c', script], {
      input: noiseWav(sound, stream(3), new NoiseSource()),
    });
    const [channels, width, rateHz, length, low, high] = JSON.parse(stdout.toString());
    expect([channels, width, rateHz, length]).toEqual([sound.channels, 2, 48_000, frames]);
    // Half of full scale, and nearly reached.
    expect(low).toBeGreaterThanOrEqual(-16_384);
    expect(low).toBeLessThan(-16_000);
    expect(high).toBeLessThanOrEqual(16_383);
    expect(high).toBeGreaterThan(16_000);
  });
});

describe.each<[VideoEncoder]>([['built-in'], ['ffmpeg']])('a video of noise by %s', (encoder) => {
  const needed = encoder === 'built-in' || hasFfmpeg;
  const make = (video: NoiseVideo, seed = 1) => noiseVideo(video, encoder, stream(seed), new NoiseSource());
  const clips: [NoiseVideo][] = [
    [{ widthPx: 32, heightPx: 32, numFrames: 2, fps: 30 }],
    [{ widthPx: 250, heightPx: 130, numFrames: 17, fps: 30 }],
    [{ widthPx: 16, heightPx: 18, numFrames: 3, fps: 12.5 }],
  ];

  test.skipIf(!needed).each(clips)('has frames, size and rate asked for: %o', async (clip) => {
    const bytes = await make(clip);
    const { ALL_FORMATS, BufferSource, Input } = await import('mediabunny');
    const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(new Uint8Array(bytes)) });
    const track = await input.getPrimaryVideoTrack();
    const { packetCount, averagePacketRate } = (await track?.computePacketStats()) ?? {};
    expect(track).toMatchObject({ codec: 'avc', displayWidth: clip.widthPx, displayHeight: clip.heightPx });
    expect(packetCount).toBe(clip.numFrames);
    expect(averagePacketRate).toBeCloseTo(clip.fps, 1);
    // The index comes first, so that a server can read while it receives.
    expect(bytes.indexOf('moov')).toBeLessThan(bytes.indexOf('mdat'));
  });

  // Needs ffprobe (Debian: apt-get install ffmpeg).
  test.skipIf(!hasFfmpeg).each(clips)('decodes without an error in another program: %o', async (clip) => {
    const path = join(folder, `${encoder}-${clip.widthPx}.mp4`);
    writeFileSync(path, await make(clip));
    const entries = 'stream=width,height,avg_frame_rate,nb_read_frames,pix_fmt,codec_name';
    const probe = spawnSync('ffprobe', [
      ...['-v', 'error', '-count_frames', '-of', 'json', '-show_entries', entries, path],
    ]);
    expect(probe.stderr.toString()).toBe('');
    const [stream] = JSON.parse(probe.stdout.toString()).streams;
    const [over = 0, under = 1] = stream.avg_frame_rate.split('/').map(Number);
    expect({ ...stream, avg_frame_rate: over / under }).toEqual({
      codec_name: 'h264',
      width: clip.widthPx,
      height: clip.heightPx,
      pix_fmt: 'yuv420p',
      avg_frame_rate: clip.fps,
      nb_read_frames: String(clip.numFrames),
    });
    const decoded = spawnSync('ffmpeg', ['-v', 'error', '-xerror', '-i', path, '-f', 'rawvideo', '-']);
    expect(decoded.stderr.toString()).toBe('');
    const frameBytes = (clip.widthPx * clip.heightPx * 3) / 2;
    expect(decoded.stdout.length).toBe(frameBytes * clip.numFrames);
    const [first, second] = [0, 1].map((at) =>
      decoded.stdout.subarray(at * frameBytes, (at + 1) * frameBytes),
    );
    expect(first?.equals(second ?? Buffer.alloc(0))).toBe(false);
  });

  test.skipIf(!needed)('is the same for the same seed, also when several are made at once', async () => {
    const clip = { widthPx: 64, heightPx: 48, numFrames: 4, fps: 30 };
    const [first, again, other] = await Promise.all([make(clip), make(clip), make(clip, 2)]);
    expect(again?.equals(first ?? Buffer.alloc(0))).toBe(true);
    expect(other?.equals(first ?? Buffer.alloc(0))).toBe(false);
    expect(await make(clip)).toEqual(first);
  });

  test('refuses odd sides', async () => {
    const clip = { widthPx: 33, heightPx: 32, numFrames: 2, fps: 30 };
    await expect(make(clip)).rejects.toThrow('A video of 33x32 px: 4:2:0 pictures have even sides');
  });
});

// ffmpeg -v error -xerror -i video.mp4 -f null - (FFmpeg 5.1.9) reports no error for it.
test('built-in videos are the same on every machine', async () => {
  const clip = { widthPx: 64, heightPx: 48, numFrames: 4, fps: 30 };
  const bytes = await noiseVideo(clip, 'built-in', stream(1), new NoiseSource());
  expect(md5(bytes)).toBe('2e6c48fb7724f88d5e85cb82db7e188f');
});

test.skipIf(!hasFfmpeg)('built-in videos are about as large as those of x264', async () => {
  const clip = { widthPx: 320, heightPx: 240, numFrames: 8, fps: 30 };
  const [own, x264] = await Promise.all(
    (['built-in', 'ffmpeg'] as const).map((encoder) =>
      noiseVideo(clip, encoder, stream(1), new NoiseSource()),
    ),
  );
  const ratio = (own?.length ?? 0) / (x264?.length ?? 1);
  expect(ratio).toBeGreaterThan(0.8);
  expect(ratio).toBeLessThan(1.25);
});
