import { messageOf, OmnimeterError } from '../foundation/errors.ts';
import { adtsLength } from './adts-length.ts';
import { mp3Channels } from './mp3-channels.ts';
import { parseWavHeader } from './wav-header.ts';

/** What is known of audio once it is decoded. */
export type DecodedAudio = {
  readonly sampleRateHz: number;
  readonly channels: number;
  /** Samples per channel. */
  readonly frames: number;
  readonly durationS: number;
};

/** Audio that cannot be decoded. */
export class AudioDecodeError extends OmnimeterError {
  override readonly code: string = 'AUDIO_DECODE';
}

/**
 * Decodes audio at its native rate, to learn how long it is.
 * @param format what it was asked for or announced as: wav, mp3, flac, opus, aac; names the audio in messages, and
 * the bytes decide
 * @throws AudioDecodeError for bytes that are none of these, or hold no sample
 */
export async function decodeAudio(format: string, bytes: Uint8Array): Promise<DecodedAudio> {
  if (bytes.length === 0) throw new AudioDecodeError(`${format} audio: there are no bytes to decode.`);
  const wav = wavLength(bytes);
  if (wav !== null) return wav;
  const adts = adtsLength(bytes);
  if (adts !== null && adts.frames > 0) return { ...adts, durationS: adts.frames / adts.sampleRateHz };
  let decoded: DecodedAudio | null = null;
  for (const file of splitFlac(bytes)) {
    const part = await decodeOne(format, file);
    decoded = decoded === null ? part : added(format, decoded, part);
  }
  if (decoded === null || decoded.frames === 0 || decoded.sampleRateHz === 0)
    throw new AudioDecodeError(`${format} audio: ${bytes.length} bytes decode to no sample.`);
  return decoded;
}

function wavLength(bytes: Uint8Array): DecodedAudio | null {
  const header = parseWavHeader(bytes, bytes.length);
  if (!header.ok) return null;
  const { sampleRateHz, channels, bitsPerSample, dataBytes } = header;
  const frames = Math.floor(dataBytes / ((bitsPerSample / 8) * channels));
  return { sampleRateHz, channels, frames, durationS: frames / sampleRateHz };
}

async function decodeOne(format: string, bytes: Uint8Array): Promise<DecodedAudio> {
  // Lazy: the decoders are WebAssembly and take time to load, and most runs have WAV only.
  const { default: decode } = await import('audio-decode');
  try {
    const { channelData, sampleRate } = await decode(bytes);
    const frames = channelData[0]?.length ?? 0;
    const durationS = sampleRate > 0 ? frames / sampleRate : 0;
    // The library gives one channel where two are equal, because its MP3 decoder doubles mono.
    const channels = mp3Channels(bytes) ?? channelData.length;
    return { sampleRateHz: sampleRate, channels, frames, durationS };
  } catch (error) {
    throw new AudioDecodeError(
      `${format} audio: ${bytes.length} bytes do not decode (${messageOf(error)}). Expected wav, mp3, flac, opus or aac.`,
      { cause: error },
    );
  }
}

function added(format: string, first: DecodedAudio, second: DecodedAudio): DecodedAudio {
  if (first.sampleRateHz !== second.sampleRateHz || first.channels !== second.channels)
    throw new AudioDecodeError(
      `${format} audio: it changes from ${first.sampleRateHz} Hz, ${first.channels} channel(s) to ${second.sampleRateHz} Hz, ${second.channels} channel(s).`,
    );
  const frames = first.frames + second.frames;
  return { ...first, frames, durationS: frames / first.sampleRateHz };
}

/** `fLaC` and the head of a STREAMINFO block of 34 bytes, last block or not. */
const flacStarts = [0x00, 0x80].map((last) => Buffer.from([0x66, 0x4c, 0x61, 0x43, last, 0, 0, 34]));

/** FLAC files that stand one behind the other, as a stream of self-contained chunks leaves them; else the bytes. */
function splitFlac(bytes: Uint8Array): Uint8Array[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const starts: number[] = [];
  for (const mark of flacStarts) {
    for (let at = buffer.indexOf(mark); at >= 0; at = buffer.indexOf(mark, at + 1)) starts.push(at);
  }
  if (!starts.includes(0)) return [bytes];
  starts.sort((a, b) => a - b);
  return starts.map((start, i) => bytes.subarray(start, starts[i + 1] ?? bytes.length));
}
