import { readFileSync } from 'node:fs';
import { crc32, deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { drawImage, imageFormats } from './draw-image.ts';
import { drawVideo } from './draw-video.ts';
import { ClipProbeError, probeClip } from './probe-clip.ts';
import { ImageProbeError, probeImage } from './probe-image.ts';

const mostPixels = 1e8;

function fixture(name: string): Buffer {
  return readFileSync(new URL(`./__fixtures__/${name}`, import.meta.url));
}

function pngChunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(data.length, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}

/** A PNG written by hand: 8-bit grey of any size, all of one colour. */
function greyPng(widthPx: number, heightPx: number, rows: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(widthPx, 0);
  header.writeUInt32BE(heightPx, 4);
  header.writeUInt8(8, 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(rows)),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

test.each(imageFormats)('an image made as %s has the size asked for', async (format) => {
  const bytes = await drawImage({ widthPx: 333, heightPx: 97, seed: 5, format, quality: 80 });
  expect(await probeImage(bytes, mostPixels)).toEqual({ format, widthPx: 333, heightPx: 97 });
  const again = await drawImage({ widthPx: 333, heightPx: 97, seed: 5, format, quality: 80 });
  expect(again.equals(bytes)).toBe(true);
  const other = await drawImage({ widthPx: 333, heightPx: 97, seed: 6, format, quality: 80 });
  expect(other.equals(bytes)).toBe(false);
});

test('a PNG written by hand is read', async () => {
  expect(await probeImage(greyPng(4, 3, Buffer.alloc(5 * 3)), mostPixels)).toEqual({
    format: 'png',
    widthPx: 4,
    heightPx: 3,
  });
});

test('a giant picture in a small file is refused before it is unpacked', async () => {
  const bomb = greyPng(50_000, 50_000, Buffer.alloc(20_000_000));
  expect(bomb.length).toBeLessThan(100_000);
  const before = process.memoryUsage().rss;
  await expect(probeImage(bomb, mostPixels)).rejects.toThrow(/50000x50000/);
  expect(process.memoryUsage().rss - before).toBeLessThan(500e6);
});

test.each([
  ['nothing', ''],
  ['a text', 'hello'],
  ['half a header', '\x89PNG\r\n\x1a\n\0\0\0'],
  ['a drawing program', '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'],
])('%s is no image', async (_what, text) => {
  await expect(probeImage(Buffer.from(text, 'latin1'), mostPixels)).rejects.toThrow(ImageProbeError);
});

// Lengths as FFmpeg 5.1.9 decodes them; AAC as whole frames.
test.each([
  ['tone-8k-stereo.wav', 8000, 2, 0.5],
  ['tone-24k-mono.mp3', 24000, 1, 1.25],
  ['tone-44k-stereo.mp3', 44100, 2, 0.5],
  ['tone-24k-mono.flac', 24000, 1, 0.3],
  ['tone-48k-mono.opus', 48000, 1, 1.25],
  ['tone-24k-mono.aac', 24000, 1, 1.322666667],
])('%s is a sound', async (name, sampleRateHz, channels, durationS) => {
  const facts = await probeClip(fixture(name));
  expect(facts.audio).toEqual({ sampleRateHz, channels });
  expect(facts.video).toBeNull();
  expect(facts.durationS).toBeCloseTo(durationS, 5);
});

test('a video has size and length', async () => {
  const video = await drawVideo({
    widthPx: 320,
    heightPx: 240,
    numFrames: 36,
    fps: 24,
    seed: 0,
    audio: null,
  });
  expect(await probeClip(video)).toEqual({
    durationS: 1.5,
    video: { widthPx: 320, heightPx: 240 },
    audio: null,
  });
});

test.each(['', 'hello', 'RIFF....WAVE', '\0\0\0\x18ftypisom'])(
  '%j is neither sound nor video',
  async (text) => {
    await expect(probeClip(Buffer.from(text, 'latin1'))).rejects.toThrow(ClipProbeError);
  },
);
