import { describe, expect, test } from 'vitest';
import { type AudioFormat, audioFormats, encodeAudio } from './encode-audio.ts';
import { resamplePcm } from './resample-pcm.ts';

/** A tone that rises, so that a shift shows. */
function chirp(samples: number, channels = 1): Buffer {
  const pcm = Buffer.alloc(samples * channels * 2);
  for (let at = 0; at < samples; at += 1) {
    const value = Math.round(8000 * Math.sin((2 * Math.PI * at) / 60 + (at * at) / 2e6));
    for (let channel = 0; channel < channels; channel += 1)
      pcm.writeInt16LE(value, (at * channels + channel) * 2);
  }
  return pcm;
}

/** Decoded by libraries that are not ours, as 16-bit samples of the first channel. */
async function decoded(bytes: Buffer): Promise<{ samples: Int16Array; rate: number }> {
  const { default: decode } = await import('audio-decode');
  const { channelData, sampleRate } = await decode(bytes);
  return {
    samples: Int16Array.from(channelData[0] ?? [], (value) => Math.round(value * 32767)),
    rate: sampleRate,
  };
}

const speech = { sampleRateHz: 24000, channels: 1 };

describe('decoded elsewhere', () => {
  test.each([1, 100, 4096, 4097, 50_000])('FLAC is the same %d samples', async (count) => {
    const pcm = chirp(count);
    const { samples, rate } = await decoded(await encodeAudio(pcm, speech, 'flac'));
    expect(rate).toBe(24000);
    expect(Buffer.from(samples.buffer).equals(pcm)).toBe(true);
  });

  test('FLAC of noise, which does not compress, is the same samples', async () => {
    let state = 1;
    const pcm = Buffer.from(
      Array.from({ length: 20_000 }, () => {
        state = (Math.imul(state, 1103515245) + 12345) >>> 0;
        return state >>> 24;
      }),
    );
    const { samples } = await decoded(await encodeAudio(pcm, speech, 'flac'));
    expect(Buffer.from(samples.buffer).equals(pcm)).toBe(true);
  });

  test.each([8000, 16000, 22050, 24000, 44100, 48000, 37800])(
    'FLAC at %d Hz says so',
    async (sampleRateHz) => {
      const flac = await encodeAudio(chirp(5000), { sampleRateHz, channels: 1 }, 'flac');
      // RFC 9639, 8.2: 20 bits behind the two block sizes and the two frame sizes.
      expect(flac.readUIntBE(8 + 10, 3) >> 4).toBe(sampleRateHz);
    },
  );

  // The decoders give Opus at 48 kHz, always.
  test.each<[AudioFormat, number]>([
    ['mp3', 1],
    ['opus', 2],
  ])('%s is as long to the sample, and in step', async (format, factor) => {
    const pcm = chirp(72_123);
    const { samples } = await decoded(await encodeAudio(pcm, speech, format));
    expect(samples.length).toBe(72_123 * factor);
    // Where it is most like what went in.
    let best = { lag: 0, likeness: Number.NEGATIVE_INFINITY };
    for (let lag = -40; lag <= 40; lag += 1) {
      let likeness = 0;
      for (let at = 30_000; at < 34_000; at += 1)
        likeness += pcm.readInt16LE(at * 2) * (samples[(at + lag) * factor] ?? 0);
      if (likeness > best.likeness) best = { lag, likeness };
    }
    expect(best.lag).toBe(0);
  });

  test('AAC is whole frames around the sound', async () => {
    const aac = await encodeAudio(chirp(24_000), speech, 'aac');
    let frames = 0;
    for (let at = 0; at < aac.length; frames += 1) {
      expect(aac.readUInt16BE(at) & 0xfff6).toBe(0xfff0);
      at += (aac.readUIntBE(at + 3, 3) >> 5) & 0x1fff;
    }
    expect(frames).toBe(Math.ceil(24_000 / 1024) + 1);
  });
});

test.each(audioFormats)('%s of stereo is made', async (format) => {
  const bytes = await encodeAudio(chirp(10_000, 2), { sampleRateHz: 44100, channels: 2 }, format);
  expect(bytes.length).toBeGreaterThan(1000);
});

test('another rate keeps what it can hold and filters out what it cannot', () => {
  const tone = (hz: number) => {
    const pcm = Buffer.alloc(48_000 * 2);
    for (let at = 0; at < 48_000; at += 1)
      pcm.writeInt16LE(Math.round(10_000 * Math.sin((2 * Math.PI * hz * at) / 48_000)), at * 2);
    return pcm;
  };
  const loudness = (pcm: Buffer) => {
    let sum = 0;
    for (let at = 500; at < pcm.length / 2 - 500; at += 1) sum += pcm.readInt16LE(at * 2) ** 2;
    return Math.sqrt(sum / (pcm.length / 2 - 1000));
  };
  const kept = resamplePcm(tone(1000), { sampleRateHz: 48_000, channels: 1 }, 16_000);
  expect(kept.length).toBe(16_000 * 2);
  // 10,000 over the square root of two.
  expect(loudness(kept)).toBeCloseTo(7071, -2);
  expect(loudness(resamplePcm(tone(11_000), { sampleRateHz: 48_000, channels: 1 }, 16_000))).toBeLessThan(10);
});
