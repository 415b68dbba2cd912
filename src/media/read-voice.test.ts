import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { InputFileError, UsageError } from '../foundation/errors.ts';
import { readVoice } from './read-voice.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'omnimeter-voice-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const tone = ['-f', 'lavfi', '-i', 'sine=frequency=220:sample_rate=16000:duration=0.5'];
const picture = ['-f', 'lavfi', '-i', 'testsrc=size=64x64:rate=10:duration=0.5', '-c:v', 'mpeg4'];

/** A file as FFmpeg makes it. */
function made(name: string, ...args: readonly string[]): string {
  const path = join(folder, name);
  execFileSync('ffmpeg', ['-y', '-v', 'error', ...args, path]);
  return path;
}

function written(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

it.each([
  ['WAV', 'a.wav', []],
  ['WAV of floats', 'f.wav', ['-c:a', 'pcm_f32le']],
  ['MP3', 'a.mp3', []],
  ['FLAC', 'a.flac', []],
  ['AAC in MP4', 'a.m4a', ['-c:a', 'aac']],
])('a voice as %s is sent as it is', async (_, name, codec) => {
  const path = made(name, ...tone, ...codec);
  expect(await readVoice(path, '--ref-audio')).toEqual(readFileSync(path));
});

it.each<[string, () => string, string]>([
  ['an empty file', () => written('empty.wav', ''), 'reference audio: there are no bytes to decode'],
  ['text', () => written('text.wav', 'no sound at all'), 'do not decode'],
  [
    'a WAV file without samples',
    () =>
      written(
        'none.wav',
        readFileSync(made('b.wav', ...tone, '-bitexact', '-frames:a', '1')).subarray(0, 40),
      ),
    '',
  ],
  [
    'a WAV file that is cut off',
    () => written('cut.wav', readFileSync(made('c.wav', ...tone, '-bitexact')).subarray(0, 1044)),
    // 0.5 s of 16-bit samples at 16 kHz behind a header of 44 bytes.
    'it is cut off, 1000 of the 16000 bytes of samples that its WAV header announces came',
  ],
  ['a video', () => made('v.mp4', ...picture, ...tone, '-c:a', 'aac'), 'it is a video'],
  ['a silent video', () => made('s.mp4', ...picture), 'it is a video'],
  ['a picture', () => made('p.png', ...picture.slice(0, 4), '-frames:v', '1'), ''],
])('%s is refused', async (_, file, why) => {
  const path = file();
  const error: unknown = await readVoice(path, '--ref-audio').catch((cause) => cause);
  expect(error).toBeInstanceOf(InputFileError);
  expect(String(error)).toContain(`--ref-audio: ${path} is no voice to answer with: `);
  expect(String(error)).toContain(why);
  expect(String(error)).toMatch(/[^.]\. Expected a WAV file with sound in it\.$/);
});

it('a file that is not there is a wrong flag', async () => {
  const path = join(folder, 'gone.wav');
  const error: unknown = await readVoice(path, '--ref-audio').catch((cause) => cause);
  expect(error).toBeInstanceOf(UsageError);
  expect(String(error)).toContain(`Reference audio does not exist: ${path} (--ref-audio)`);
});
