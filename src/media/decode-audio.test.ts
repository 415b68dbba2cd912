import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { AudioDecodeError, decodeAudio } from './decode-audio.ts';

const fixture = (name: string): Buffer => readFileSync(new URL(`./__fixtures__/${name}`, import.meta.url));

describe('decodeAudio', () => {
  // MP3 and Opus hold the encoder's delay beside the tone; a decoder that honours the trimming marks leaves the tone.
  test.each([
    ['wav', 'tone-8k-stereo.wav', { sampleRateHz: 8000, channels: 2, frames: 4000, durationS: 0.5 }],
    ['mp3', 'tone-24k-mono.mp3', { sampleRateHz: 24_000, channels: 1, frames: 30_000, durationS: 1.25 }],
    ['mp3', 'tone-44k-stereo.mp3', { sampleRateHz: 44_100, channels: 2, frames: 22_050, durationS: 0.5 }],
    ['opus', 'tone-48k-mono.opus', { sampleRateHz: 48_000, channels: 1, frames: 60_000, durationS: 1.25 }],
    ['flac', 'tone-24k-mono.flac', { sampleRateHz: 24_000, channels: 1, frames: 7200, durationS: 0.3 }],
    [
      'aac',
      'tone-24k-mono.aac',
      { sampleRateHz: 24_000, channels: 1, frames: 31_744, durationS: 31_744 / 24_000 },
    ],
  ])('%s: %s', async (format, name, expected) => {
    expect(await decodeAudio(format, fixture(name))).toEqual(expected);
  });

  test.each([
    ['opus', 'tone-48k-mono.opus', 120_000],
    ['flac', 'tone-24k-mono.flac', 14_400],
    ['aac', 'tone-24k-mono.aac', 63_488],
  ])('%s chunks that are files of their own add up', async (format, name, frames) => {
    const bytes = fixture(name);
    expect((await decodeAudio(format, Buffer.concat([bytes, bytes]))).frames).toBe(frames);
  });

  test('an AAC frame that is cut off does not count', async () => {
    const bytes = fixture('tone-24k-mono.aac');
    expect((await decodeAudio('aac', bytes.subarray(0, bytes.length - 1))).frames).toBe(30 * 1024);
  });

  test.each([
    ['no bytes', Buffer.alloc(0), /mp3 audio: there are no bytes/],
    ['text', Buffer.from('{"error": "no audio"}'), /mp3 audio: 21 bytes do not decode .*Expected wav, mp3/],
    [
      'the beginning of an Ogg page',
      fixture('tone-48k-mono.opus').subarray(0, 900),
      /mp3 audio: 900 bytes decode to no sample/,
    ],
  ])('%s is an error', async (_, bytes, message) => {
    await expect(decodeAudio('mp3', bytes)).rejects.toThrow(AudioDecodeError);
    await expect(decodeAudio('mp3', bytes)).rejects.toThrow(message);
  });
});
