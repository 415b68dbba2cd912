import { expect, test } from 'vitest';
import { ClipProbeError, probeClip } from './probe-clip.ts';

/** Two samples of 16 kHz PCM in a WAV, its fields changed. */
function wav({ channels = 1, rateHz = 16_000, bits = 16 } = {}): Buffer {
  const bytes = Buffer.from('UklGRigAAABXQVZFZm10IBAAAAABAAEAgD4AAAB9AAACABAAZGF0YQQAAAAAAOgD', 'base64');
  bytes.writeUInt16LE(channels, 22);
  bytes.writeUInt32LE(rateHz, 24);
  bytes.writeUInt16LE(bits, 34);
  return bytes;
}

test('a WAV is as long as its samples', async () => {
  expect(await probeClip(wav())).toEqual({
    durationS: 2 / 16_000,
    video: null,
    audio: { sampleRateHz: 16_000, channels: 1 },
  });
});

test.each([
  ['no channel', wav({ channels: 0 })],
  ['no rate', wav({ rateHz: 0 })],
  ['no byte', Buffer.alloc(0)],
  ['words', Buffer.from('not a sound')],
  ['half a header', wav().subarray(0, 30)],
])('what has %s is no clip', async (_what, bytes) => {
  await expect(probeClip(bytes)).rejects.toThrow(ClipProbeError);
});
