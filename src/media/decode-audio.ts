import { messageOf, OmnimeterError } from '../foundation/errors.ts';
import { adtsLength } from './adts-length.ts';
import { mp3Channels } from './mp3-channels.ts';
import { mp3Missing } from './mp3-completeness.ts';
import { sniffMime } from './sniff-mime.ts';
import { parseWavHeader } from './wav-header.ts';

/** What is known of audio once it is decoded. */
export type DecodedAudio = {
  readonly sampleRateHz: number;
  readonly channels: number;
  /** Samples per channel. */
  readonly frames: number;
  readonly durationS: number;
  /** Why more may have been meant, where the bytes don't tell for sure; `null` = they look whole. */
  readonly warning: string | null;
};

/**
 * What keeps audio from being decoded. `empty`: there is no sample in it. `malformed`: it is cut, or is not what it
 * claims to be. `unsupported`: it may be sound, and there is no decoder for it here.
 */
export type AudioFault = 'empty' | 'malformed' | 'unsupported';

/** Audio that cannot be decoded. */
export class AudioDecodeError extends OmnimeterError {
  override readonly code: string = 'AUDIO_DECODE';
  readonly fault: AudioFault;

  constructor(fault: AudioFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}

/** Formats that are read here; other sound is nobody's fault. */
const decodedTypes = new Set(['audio/wav', 'audio/mpeg', 'audio/flac', 'audio/ogg', 'audio/aac']);

/**
 * Decodes audio at its native rate, to learn how long it is.
 * @param format what it was asked for or announced as: wav, mp3, flac, opus, aac; names the audio in messages, and
 * the bytes decide
 * @throws AudioDecodeError for bytes that are none of these, hold no sample, or end before the length that they announce
 */
export async function decodeAudio(format: string, bytes: Uint8Array): Promise<DecodedAudio> {
  if (bytes.length === 0)
    throw new AudioDecodeError('empty', `${format} audio: there are no bytes to decode.`);
  const wav = wavLength(format, bytes);
  if (wav !== null) return wav;
  const adts = adtsLength(bytes);
  if (adts !== null && adts.frames > 0) {
    const { isCut, ...length } = adts;
    return { ...length, durationS: length.frames / length.sampleRateHz, warning: isCut ? cutFrame : null };
  }
  const warning = endWarning(format, bytes);
  let decoded: DecodedAudio | null = null;
  for (const file of splitFlac(bytes)) {
    const part = await decodeOne(format, file);
    const announced = flacFrames(file);
    if (announced !== null && part.frames < announced)
      throw new AudioDecodeError(
        'malformed',
        `${format} audio: it is cut off, ${part.frames} of the ${announced} samples that its header announces came.`,
      );
    decoded = decoded === null ? part : added(format, decoded, part);
  }
  if (decoded === null || decoded.frames === 0 || decoded.sampleRateHz === 0)
    throw new AudioDecodeError('empty', `${format} audio: ${bytes.length} bytes decode to no sample.`);
  return { ...decoded, warning };
}

const cutFrame = 'the last frame is not whole, so that the audio may have been cut';

/** @throws AudioDecodeError where an MP3 announces more bytes than there are */
function endWarning(format: string, bytes: Uint8Array): string | null {
  const { cutBytes, lastFrame } = mp3Missing(bytes);
  if (cutBytes > 0)
    throw new AudioDecodeError(
      'malformed',
      `${format} audio: it is cut off, ${cutBytes} of the bytes that its header announces are missing.`,
    );
  if (lastFrame) return cutFrame;
  return lacksLastPage(bytes) ? 'its last Ogg page is missing, so that the audio may have been cut' : null;
}

/** Whether an Ogg stream (RFC 3533) ends without the page that is marked as its last. */
function lacksLastPage(bytes: Uint8Array): boolean {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const mark = Buffer.from('OggS');
  if (buffer.indexOf(mark) !== 0) return false;
  return ((buffer[buffer.lastIndexOf(mark) + 5] ?? 0) & 4) === 0;
}

function wavLength(format: string, bytes: Uint8Array): DecodedAudio | null {
  const header = parseWavHeader(bytes, bytes.length);
  if (!header.ok) {
    if (header.kind === 'not_wav' && sniffMime(bytes) === 'audio/wav')
      throw new AudioDecodeError('malformed', `${format} audio: the WAV header is broken: ${header.reason}.`);
    return null;
  }
  const { sampleRateHz, channels, bitsPerSample, dataBytes, announcedBytes } = header;
  if (announcedBytes !== null && announcedBytes > dataBytes)
    throw new AudioDecodeError(
      'malformed',
      `${format} audio: it is cut off, ${dataBytes} of the ${announcedBytes} bytes of samples that its WAV header announces came.`,
    );
  const frames = Math.floor(dataBytes / ((bitsPerSample / 8) * channels));
  if (frames === 0) throw new AudioDecodeError('empty', `${format} audio: the WAV file holds no sample.`);
  return { sampleRateHz, channels, frames, durationS: frames / sampleRateHz, warning: null };
}

/** Samples per channel that the head of a FLAC file announces; `null` = it is none, or says nothing. */
function flacFrames(bytes: Uint8Array): number | null {
  if (!flacStarts.some((start) => start.equals(bytes.subarray(0, start.length))) || bytes.length < 26)
    return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // STREAMINFO (RFC 9639, 8.2): 36 bits behind rate, channels and width.
  const frames = (view.getUint8(21) & 15) * 2 ** 32 + view.getUint32(22);
  return frames === 0 ? null : frames;
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
    return { sampleRateHz: sampleRate, channels, frames, durationS, warning: null };
  } catch (error) {
    throw new AudioDecodeError(
      faultOf(bytes),
      `${format} audio: ${bytes.length} bytes do not decode (${messageOf(error)}). Expected wav, mp3, flac, opus or aac.`,
      { cause: error },
    );
  }
}

/** Bytes of no known kind are junk; a known kind without a decoder here may well be sound. */
function faultOf(bytes: Uint8Array): AudioFault {
  const mime = sniffMime(bytes);
  const isForeign = mime !== null && /^(audio|video)\//.test(mime) && !decodedTypes.has(mime);
  const wav = parseWavHeader(bytes, bytes.length);
  return isForeign || (!wav.ok && wav.kind === 'unsupported') ? 'unsupported' : 'malformed';
}

function added(format: string, first: DecodedAudio, second: DecodedAudio): DecodedAudio {
  if (first.sampleRateHz !== second.sampleRateHz || first.channels !== second.channels)
    throw new AudioDecodeError(
      'malformed',
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
