import { DuplexError, shown } from './duplex-error.ts';

/** Sound of one append: mono, −1…1. */
export type InputSound = { readonly samples: Float32Array; readonly sampleRateHz: number };

type Decoder = { readonly bytesPerSample: number; sample(bytes: Buffer, offset: number): number };

const s16le: Decoder = { bytesPerSample: 2, sample: (bytes, offset) => bytes.readInt16LE(offset) / 32768 };
const f32le: Decoder = { bytesPerSample: 4, sample: (bytes, offset) => bytes.readFloatLE(offset) };

/** ITU-T G.711 µ-law. */
function fromMuLaw(byte: number): number {
  const code = ~byte & 0xff;
  const magnitude = ((((code & 0x0f) << 3) + 0x84) << ((code & 0x70) >> 4)) - 0x84;
  return ((code & 0x80) === 0 ? magnitude : -magnitude) / 32768;
}

/** ITU-T G.711 A-law. */
function fromALaw(byte: number): number {
  const code = byte ^ 0x55;
  const exponent = (code & 0x70) >> 4;
  const base = ((code & 0x0f) << 4) + 8;
  const magnitude = exponent === 0 ? base : (base + 0x100) << (exponent - 1);
  return ((code & 0x80) === 0 ? -magnitude : magnitude) / 32768;
}

const decoders: Readonly<Record<string, Decoder>> = {
  pcm16: s16le,
  pcm_s16le: s16le,
  s16le,
  pcm_f32le: f32le,
  g711_ulaw: { bytesPerSample: 1, sample: (bytes, offset) => fromMuLaw(bytes[offset] ?? 0) },
  g711_alaw: { bytesPerSample: 1, sample: (bytes, offset) => fromALaw(bytes[offset] ?? 0) },
};

/** Formats that appends may have. */
export const inputAudioFormats: readonly string[] = Object.keys(decoders);

/**
 * Bytes of a base64 text with its padding and nothing else; `null` = it is none. The decoder passes over what is
 * foreign, so that a text which has such is longer than its bytes need; no pattern has to walk over 16 MiB.
 */
export function strictBytes(text: string): Buffer | null {
  if (text.length % 4 !== 0 || text.includes('-') || text.includes('_')) return null;
  const padding = text.endsWith('==') ? 2 : Number(text.endsWith('='));
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === (text.length / 4) * 3 - padding ? bytes : null;
}

const leastRateHz = 8000;
const mostRateHz = 192_000;
/** Longest sound of one append, s. */
const mostSeconds = 60;

/**
 * The sound of an append.
 * @throws DuplexError `unsupported_audio_format`, `bad_audio`
 */
export function decodeInputAudio(audio: string, format: string, sampleRateHz: number): InputSound {
  const decoder = decoders[format];
  if (decoder === undefined)
    throw new DuplexError(
      'unsupported_audio_format',
      `The audio format ${JSON.stringify(shown(format))} is not supported; expected ${inputAudioFormats.join(', ')}.`,
      'input_audio_format',
    );
  if (!(sampleRateHz >= leastRateHz && sampleRateHz <= mostRateHz))
    throw new DuplexError(
      'bad_audio',
      `sample_rate_hz must be ${leastRateHz} to ${mostRateHz}, got ${sampleRateHz}.`,
      'sample_rate_hz',
    );
  const bytes = strictBytes(audio);
  if (bytes === null) throw new DuplexError('bad_audio', 'audio is not valid base64.', 'audio');
  const { bytesPerSample } = decoder;
  if (bytes.length === 0 || bytes.length % bytesPerSample !== 0)
    throw new DuplexError(
      'bad_audio',
      `audio is empty or not whole samples of ${bytesPerSample} bytes (${bytes.length} bytes of ${format}).`,
      'audio',
    );
  const count = bytes.length / bytesPerSample;
  if (count > mostSeconds * sampleRateHz)
    throw new DuplexError('bad_audio', `One append may bring ${mostSeconds} s of audio at most.`, 'audio');
  const samples = new Float32Array(count);
  for (let index = 0; index < count; index += 1)
    samples[index] = decoder.sample(bytes, index * bytesPerSample);
  if (!samples.every(Number.isFinite))
    throw new DuplexError('bad_audio', 'audio has samples that are no finite numbers.', 'audio');
  return { samples, sampleRateHz };
}

/** Root mean square, 0…1. */
export function rmsOf(samples: Float32Array): number {
  if (samples.length === 0) return 0;
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return Math.sqrt(sum / samples.length);
}

const mostFrames = 64;

/**
 * Checks the pictures that ride on an append.
 * @returns how many there are
 * @throws DuplexError `invalid_video_frames`
 */
export function checkVideoFrames(frames: unknown): number {
  if (frames === undefined || frames === null) return 0;
  const refuse = (why: string): DuplexError => new DuplexError('invalid_video_frames', why, 'video_frames');
  if (!Array.isArray(frames)) throw refuse('video_frames must be a list of base64 texts.');
  if (frames.length > mostFrames) throw refuse(`One append may bring ${mostFrames} video frames at most.`);
  for (const [index, frame] of frames.entries()) {
    if (typeof frame !== 'string' || frame === '')
      throw refuse(`video_frames[${index}] must be a base64 text.`);
    if (frame.startsWith('data:'))
      throw refuse(`video_frames[${index}] must be bare base64, without "data:…,".`);
    const bytes = strictBytes(frame);
    if (bytes === null) throw refuse(`video_frames[${index}] is not valid base64.`);
    if (!isJpeg(bytes) && !isPng(bytes)) throw refuse(`video_frames[${index}] is neither a JPEG nor a PNG.`);
  }
  return frames.length;
}

function isJpeg(bytes: Buffer): boolean {
  return bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff;
}

function isPng(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, 4) === '\x89PNG';
}
