import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { messageOf } from '../foundation/errors.ts';
import { conversationMedia, videoDurationS } from './conversation-media.ts';
import { runMediaCommand } from './media-command.ts';

let folder: string;
const format = { sampleRateHz: 16_000, boxPx: 640, timeoutS: 60 };

/** A clip whose picture number n has the brightness 8·n, with a tone of 440 Hz. */
function clip(name: string, durationS: number, { sound = true, size = '64x64' } = {}): string {
  const path = join(folder, name);
  const picture = `nullsrc=s=${size}:r=10:d=${durationS},geq=lum='8*N':cb=128:cr=128`;
  const tone = ['-f', 'lavfi', '-i', `sine=frequency=440:duration=${durationS}`, '-c:a', 'aac', '-ac', '2'];
  const args = ['-y', '-v', 'error', '-f', 'lavfi', '-i', picture, ...(sound ? tone : [])];
  execFileSync('ffmpeg', [...args, '-c:v', 'mpeg4', '-q:v', '2', path]);
  return path;
}

/** A folder with a program of that name, to stand in for FFmpeg. */
function program(name: string, script: string): string {
  const path = join(folder, `bin-${readdirSync(folder).length}`);
  mkdirSync(path);
  writeFileSync(join(path, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(path, name), 0o755);
  return path;
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'omnimeter-conversation-'));
});
afterEach(() => void vi.unstubAllEnvs());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a video as a conversation', () => {
  it('has its length from the container', async () => {
    const path = clip('length.mp4', 2.4);
    expect(await videoDurationS(path, { timeoutS: 60, maxS: 3600 })).toBeCloseTo(2.4, 1);
    await expect(videoDurationS(path, { timeoutS: 60, maxS: 2 })).rejects.toThrow(
      `Invalid video duration for ${path}: 2.4`,
    );
  });

  it('is sound in whole seconds, and the picture of every second’s middle', async () => {
    const { pcm, frames } = await conversationMedia(clip('whole.mp4', 2.6), 2.6, format);
    expect(pcm.length).toBe(3 * 32_000);
    const samples = new Int16Array(pcm.buffer, pcm.byteOffset, pcm.length / 2);
    const rises = (from: number, to: number): number => {
      let count = 0;
      for (let i = from + 1; i < to; i += 1)
        if ((samples[i - 1] ?? 0) < 0 && (samples[i] ?? 0) >= 0) count += 1;
      return count;
    };
    expect(Math.abs(rises(16_000, 32_000) - 440)).toBeLessThanOrEqual(2);
    expect(samples.subarray(Math.ceil(2.7 * 16_000)).every((sample) => sample === 0)).toBe(true);
    // Pictures 5, 15 and 25 are the first ones at or after 0.5, 1.5 and 2.5 s; 8·n in video range is so bright.
    const expected = [5, 15, 25].map((n) => ((8 * n - 16) * 255) / 219);
    const seen = await Promise.all(
      frames.map(async (frame) => (await sharp(frame ?? Buffer.alloc(0)).stats()).channels[0]?.mean ?? 0),
    );
    expect(seen).toHaveLength(3);
    for (const [i, brightness] of seen.entries())
      expect(Math.abs(brightness - (expected[i] ?? 0))).toBeLessThan(6);
  });

  it('has no picture for a second that has none after its middle', async () => {
    const { frames } = await conversationMedia(clip('short.mp4', 2.3), 2.3, format);
    expect(frames.map((frame) => frame !== null)).toEqual([true, true, false]);
  });

  it('fits its pictures into the box', async () => {
    const path = clip('wide.mp4', 1, { size: '1280x320' });
    const { frames } = await conversationMedia(path, 1, format);
    expect(await sharp(frames[0] ?? Buffer.alloc(0)).metadata()).toMatchObject({ width: 640, height: 160 });
  });

  it('is refused without sound or pictures', async () => {
    const silent = clip('silent.mp4', 1, { sound: false });
    await expect(conversationMedia(silent, 1, format)).rejects.toThrow(`${silent} has no sound. Expected`);
    const wav = join(folder, 'sound.wav');
    execFileSync('ffmpeg', ['-y', '-v', 'error', '-f', 'lavfi', '-i', 'sine=duration=0.4', wav]);
    await expect(conversationMedia(wav, 0.4, format)).rejects.toThrow(`${wav} has no pictures. Expected`);
    const early = clip('early.mp4', 0.3);
    await expect(conversationMedia(early, 0.3, format)).rejects.toThrow(
      `No video frames were decoded from ${early}`,
    );
  });

  it.each<[string, (whole: Buffer) => Buffer]>([
    ['is text', () => Buffer.from('no video')],
    ['is empty', () => Buffer.alloc(0)],
    ['is cut off', (whole) => whole.subarray(0, whole.length / 2)],
  ])('is refused by name where it %s', async (name, spoil) => {
    const path = join(folder, `${name}.mp4`);
    writeFileSync(path, spoil(readFileSync(clip('spoilt.mp4', 1))));
    const start = `ffprobe failed: ${path}: `;
    const error: unknown = await videoDurationS(path, { timeoutS: 60, maxS: 9 }).catch((cause) => cause);
    expect(messageOf(error).slice(0, start.length)).toBe(start);
    await expect(conversationMedia(path, 1, format)).rejects.toThrow(`ffmpeg failed: ${path}: `);
  });
});

describe('a program for media', () => {
  const command = (more: object = {}) =>
    runMediaCommand({ command: 'ffmpeg', args: ['-x'], timeoutS: 60, maxOutputBytes: 100, ...more });

  it('is missing', async () => {
    vi.stubEnv('PATH', folder);
    await expect(command()).rejects.toThrow(
      /^Required media command is unavailable: ffmpeg\. Install it .*apt-get install ffmpeg/,
    );
  });

  it.each([
    ['takes too long', 'exec sleep 60', { timeoutS: 0.2 }, 'Media command timed out after 0.2s: ffmpeg -x'],
    ['fails', 'echo why >&2; exit 3', {}, 'ffmpeg failed: why'],
    ['fails in silence', 'exit 3', {}, 'ffmpeg failed: it ended with 3 and said nothing'],
    ['writes without end', 'yes', {}, 'ffmpeg failed: more than 100 bytes came from ffmpeg -x'],
  ])('%s', async (_, script, more, message) => {
    vi.stubEnv('PATH', `${program('ffmpeg', script)}:/bin:/usr/bin`);
    await expect(command(more)).rejects.toThrow(message);
  });

  it('is asked in the way that it knows', async () => {
    const real = execFileSync('/bin/sh', ['-c', 'command -v ffmpeg']).toString().trim();
    const later = program(
      'ffmpeg',
      `case "$*" in *vsync*) echo "Unrecognized option 'vsync'." >&2; exit 1;; *fps_mode*) exec ${real} "$@";; *) exec ${real} "$@";; esac`,
    );
    const path = clip('later.mp4', 1);
    vi.stubEnv('PATH', `${later}:/bin`);
    const { frames } = await conversationMedia(path, 1, format);
    expect(frames).toHaveLength(1);
  });
});
