import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawVideo } from './draw-video.ts';
import { FfmpegMissingError } from './ffmpeg.ts';
import { mediaTool } from './media-tool.ts';
import { encodeWav } from './wav-encode.ts';

// Needs ffmpeg (Debian: apt-get install ffmpeg).
const hasFfmpeg = spawnSync('ffmpeg', ['-version']).status === 0;
let folder: string;
let video: string;
let sound: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'omnimeter-tool-'));
  video = join(folder, 'clip.mp4');
  sound = join(folder, 'tone.wav');
  const size = { widthPx: 320, heightPx: 160, numFrames: 48, fps: 24 };
  writeFileSync(video, await drawVideo({ ...size, seed: 1, audio: null }));
  const pcm = Buffer.alloc(48_000 * 2);
  for (let at = 0; at < 48_000; at += 1)
    pcm.writeInt16LE(Math.round(8000 * Math.sin((2 * Math.PI * 440 * at) / 48_000)), at * 2);
  writeFileSync(sound, encodeWav(pcm, { sampleRateHz: 48_000, channels: 1 }));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe.skipIf(!hasFfmpeg)('the media tool', () => {
  test('gives pictures at the times asked for', async () => {
    const { default: sharp } = await import('sharp');
    const pictures = await mediaTool.frames(video, [1.5, 0, 0.5]);
    expect(pictures).toHaveLength(3);
    /** Where the bright square is: it goes right by a block of 16 pixels a frame until the border, and back. */
    const brightest = async (jpeg: Buffer): Promise<number> => {
      const { data, info } = await sharp(jpeg)
        .greyscale()
        .resize(20, 10, { kernel: 'nearest' })
        .raw()
        .toBuffer({
          resolveWithObject: true,
        });
      expect([info.width, info.height]).toEqual([20, 10]);
      return data.indexOf(Math.max(...data)) % 20;
    };
    for (const jpeg of pictures)
      expect(await sharp(jpeg).metadata()).toMatchObject({ format: 'jpeg', width: 320, height: 160 });
    const columns = await Promise.all(pictures.map(brightest));
    expect(new Set(columns).size).toBeGreaterThan(1);
    expect(await mediaTool.frames(video, [0])).toEqual([pictures[1]]);
  });

  test('a time behind the end is an error', async () => {
    await expect(mediaTool.frames(video, [9])).rejects.toThrow(
      /picture at 9 s of .*clip\.mp4: there is none so late/,
    );
  });

  test('gives sound at another rate, in time', async () => {
    const pcm = await mediaTool.pcm(sound, { sampleRateHz: 16_000, channels: 1 });
    expect(pcm.length).toBe(16_000 * 2);
    let crossings = 0;
    for (let at = 1; at < 16_000; at += 1)
      if (pcm.readInt16LE(at * 2 - 2) < 0 && pcm.readInt16LE(at * 2) >= 0) crossings += 1;
    expect(Math.abs(crossings - 440)).toBeLessThanOrEqual(1);
  });

  test('what cannot be decoded fails with the decoder’s own words', async () => {
    await expect(mediaTool.pcm(video, { sampleRateHz: 16_000, channels: 1 })).rejects.toThrow(
      /decoding the sound of .*: ffmpeg ended with 1: .*does not contain any stream/,
    );
  });
});

test('the media tool reads containers without any other program', async () => {
  const path = process.env.PATH;
  try {
    process.env.PATH = '/nowhere';
    const bytes = await drawVideo({ widthPx: 32, heightPx: 16, numFrames: 5, fps: 10, seed: 1, audio: null });
    expect(await mediaTool.probe(bytes)).toMatchObject({
      durationS: 0.5,
      video: { widthPx: 32, heightPx: 16 },
    });
    await expect(mediaTool.frames('clip.mp4', [0])).rejects.toThrow(FfmpegMissingError);
    await expect(mediaTool.frames('clip.mp4', [0])).rejects.toThrow(
      /^decoding the picture at 0 s of clip\.mp4 takes FFmpeg, and there is none\. Install it .*apt-get install ffmpeg.*brew install ffmpeg/,
    );
  } finally {
    process.env.PATH = path;
  }
});
