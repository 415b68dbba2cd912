import { mediabunnyEncode } from './mediabunny-encode.ts';
import { resamplePcm } from './resample-pcm.ts';
import type { PcmFormat } from './wav-encode.ts';

const bitsPerS = 64_000;
const rates = [48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000];
/** Samples that the encoder (LAME) puts before the sound; a decoder adds 529 of its own, and drops them unasked. */
const encoderDelaySamples = 576;
/** From the mark `Xing` or `Info`: mark, flags, frame count, byte count, table of contents. */
const indexBytes = 4 + 4 + 4 + 4 + 100;

function samplesPerFrame(sampleRateHz: number): number {
  return sampleRateHz >= 32000 ? 1152 : 576;
}

/**
 * Says in the file's index how many samples at both ends are the encoder's own, so that a player drops them: the
 * tag that LAME's own program writes and mediabunny leaves out.
 */
function writeGaplessTag(mp3: Buffer, samples: number, sampleRateHz: number): void {
  const at = mp3.indexOf('Xing', 0, 'latin1');
  if (at < 0 || at > 200) return;
  // The muxer counts the index itself as a frame, which players do not.
  const frames = mp3.readUInt32BE(at + 8) - 1;
  mp3.writeUInt32BE(frames, at + 8);
  const coded = frames * samplesPerFrame(sampleRateHz);
  const padding = Math.max(0, Math.min(4095, coded - encoderDelaySamples - samples));
  const tag = at + indexBytes;
  mp3.write('LAME3.100', tag, 'latin1');
  mp3.writeUIntBE((encoderDelaySamples << 12) | padding, tag + 21, 3);
}

/** An MP3 file. */
export async function encodeMp3(pcm: Buffer, format: PcmFormat): Promise<Buffer> {
  const sound = rates.includes(format.sampleRateHz) ? pcm : resamplePcm(pcm, format, 48000);
  const sampleRateHz = sound === pcm ? format.sampleRateHz : 48000;
  const mp3 = await mediabunnyEncode(
    sound,
    { ...format, sampleRateHz },
    'mp3',
    bitsPerS,
    (mediabunny) => new mediabunny.Mp3OutputFormat(),
  );
  writeGaplessTag(mp3, sound.length / 2 / format.channels, sampleRateHz);
  return mp3;
}
