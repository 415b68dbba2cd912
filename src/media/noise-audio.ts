import type { Random } from '../foundation/random.ts';
import type { NoiseSource } from './noise-source.ts';
import { encodeWav } from './wav-encode.ts';

/** A sound of noise. */
export type NoiseAudio = { readonly durationS: number; readonly channels: number };

const sampleRateHz = 48_000;

/** A WAV (16-bit PCM, 48 kHz) of samples that are uniform between −0.5 and 0.5 of full scale. */
export function noiseWav({ durationS, channels }: NoiseAudio, random: Random, noise: NoiseSource): Buffer {
  const frames = Math.floor(durationS * sampleRateHz);
  const pcm = noise.bytes(frames * channels * 2, random);
  for (let at = 0; at < pcm.length; at += 2) pcm.writeInt16LE(pcm.readInt16LE(at) >> 1, at);
  return encodeWav(pcm, { sampleRateHz, channels });
}
