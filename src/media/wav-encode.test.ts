import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { encodeWav } from './wav-encode.ts';

const script = `
import io, json, sys, wave
w = wave.open(io.BytesIO(sys.stdin.buffer.read()), 'rb')
frames = w.readframes(w.getnframes())
print(json.dumps([w.getnchannels(), w.getsampwidth(), w.getframerate(), w.getnframes(), frames.hex()]))
`;
const python = spawnSync('python3', ['-c', 'import wave']).status === 0;

describe('a WAV file', () => {
  test.skipIf(!python).each([
    { sampleRateHz: 24000, channels: 1, frames: 47445 },
    { sampleRateHz: 44100, channels: 2, frames: 7 },
    { sampleRateHz: 16000, channels: 1, frames: 0 },
  ])('is read by another program: %o', ({ sampleRateHz, channels, frames }) => {
    const pcm = Buffer.alloc(frames * channels * 2);
    for (let i = 0; i < pcm.length; i += 1) pcm[i] = (i * 37) % 251;
    const { stdout, stderr } = spawnSync('python3', ['-c', script], {
      input: encodeWav(pcm, { sampleRateHz, channels }),
    });
    expect(stderr.toString()).toBe('');
    expect(JSON.parse(stdout.toString())).toEqual([channels, 2, sampleRateHz, frames, pcm.toString('hex')]);
  });

  test('holds whole frames only', () => {
    expect(() => encodeWav(Buffer.alloc(6), { sampleRateHz: 24000, channels: 2 })).toThrow(RangeError);
  });
});
