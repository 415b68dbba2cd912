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
    expect(await decodeAudio(format, fixture(name))).toEqual({ ...expected, warning: null });
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
    expect(await decodeAudio('aac', bytes.subarray(0, bytes.length - 1))).toMatchObject({
      frames: 30 * 1024,
      warning: expect.stringMatching(/last frame is not whole/),
    });
  });

  test.each([
    ['wav', 'tone-8k-stereo.wav', /bytes of samples that its WAV header announces came/],
    ['flac', 'tone-24k-mono.flac', /of the 7200 samples that its header announces came/],
    ['mp3', 'tone-24k-mono.mp3', /bytes that its header announces are missing/],
  ])('half a %s that announces its length is cut', async (format, name, message) => {
    const bytes = fixture(name);
    const decoding = decodeAudio(format, bytes.subarray(0, bytes.length / 2));
    await expect(decoding).rejects.toThrow(message);
    await expect(decoding).rejects.toMatchObject({ fault: 'malformed' });
  });

  test('half an MP3 or Opus that announces nothing is decoded with a warning', async () => {
    const mp3 = fixture('tone-44k-stereo.mp3');
    const opus = fixture('tone-48k-mono.opus');
    for (const mark of ['Xing', 'Info']) if (mp3.includes(mark)) mp3.write('none', mp3.indexOf(mark));
    for (const [bytes, warning] of [
      [mp3.subarray(0, mp3.length / 2), /last frame is not whole/],
      [opus.subarray(0, opus.lastIndexOf('OggS')), /last Ogg page is missing/],
    ] as const) {
      const { frames, warning: said } = await decodeAudio('x', bytes);
      expect(frames).toBeGreaterThan(0);
      expect(said).toMatch(warning);
    }
  });

  test.each([
    [
      'no samples',
      'empty',
      Buffer.from(
        '52494646240000005741564566 6d7420100000000100010040 1f0000803e00000200100064617461 00000000'.replaceAll(
          ' ',
          '',
        ),
        'hex',
      ),
    ],
    [
      'no channels',
      'malformed',
      Buffer.from(
        '52494646260000005741564566 6d7420100000000100000040 1f0000803e00000200100064617461 020000000100'.replaceAll(
          ' ',
          '',
        ),
        'hex',
      ),
    ],
    [
      'a foreign format',
      'unsupported',
      Buffer.concat([Buffer.from([0, 0, 0, 32]), Buffer.from('ftypM4A '), Buffer.alloc(99)]),
    ],
  ])('%s: %s', async (_, fault, bytes) => {
    await expect(decodeAudio('wav', bytes)).rejects.toMatchObject({ fault });
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
