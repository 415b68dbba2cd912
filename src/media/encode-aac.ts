import { mediabunnyEncode } from './mediabunny-encode.ts';
import { resamplePcm } from './resample-pcm.ts';
import type { PcmFormat } from './wav-encode.ts';

const bitsPerS = 64_000;
/** Rates that AAC has a number for. */
const rates = [96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000];

/** AAC in ADTS frames. Its length is whole frames of 1,024 samples, of which the first comes before the sound. */
export async function encodeAac(pcm: Buffer, format: PcmFormat): Promise<Buffer> {
  const sound = rates.includes(format.sampleRateHz) ? pcm : resamplePcm(pcm, format, 48000);
  const sampleRateHz = sound === pcm ? format.sampleRateHz : 48000;
  return mediabunnyEncode(
    sound,
    { ...format, sampleRateHz },
    'aac',
    bitsPerS,
    (mediabunny) => new mediabunny.AdtsOutputFormat(),
  );
}
