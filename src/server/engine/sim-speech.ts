import type { PcmAudio } from './stage-engine.ts';

/**
 * Samples in one period of the simulated voice. The lengths of all chunks are multiples of it (1,920 a frame, less
 * 555 at a border), so that chunks of any number join without a click although each starts at the same phase.
 */
const periodSamples = 15;
const amplitude = 0.25 * 32767;
/** Different chunk lengths kept: a vocoder of 25-frame chunks has 27. */
const keptLengths = 64;

/** One period, 16-bit little-endian. */
function onePeriod(): Buffer {
  const pcm = Buffer.alloc(periodSamples * 2);
  for (let i = 0; i < periodSamples; i += 1) {
    pcm.writeInt16LE(Math.round(amplitude * Math.sin((2 * Math.PI * i) / periodSamples)), i * 2);
  }
  return pcm;
}

const period = onePeriod();
const keptTones = new Map<number, Buffer>();

/**
 * A steady tone of an exact number of samples. Equal lengths share one buffer, so that what is made of it (a
 * base64 text) can be kept beside it.
 */
export function simulatedSpeech(samples: number, sampleRateHz: number): PcmAudio {
  let pcm = keptTones.get(samples);
  if (pcm === undefined) {
    pcm = Buffer.alloc(samples * 2, period);
    if (keptTones.size >= keptLengths) keptTones.clear();
    keptTones.set(samples, pcm);
  }
  return { samples, sampleRateHz, pcm };
}
