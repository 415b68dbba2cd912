import { type AudioFormat, audioFormats, encodeAudio } from '../../media/encode-audio.ts';
import { encodeWav } from '../../media/wav-encode.ts';
import type { PcmAudio } from '../engine/stage-engine.ts';
import type { RequestFault } from '../faults/request-fault.ts';
import { RequestError } from './request-error.ts';

/**
 * The format of `audio.format`; `null` or absent = wav.
 * @throws RequestError 400 for one that the server does not make
 */
export function audioFormatOf(name: string | null | undefined): AudioFormat {
  const wanted = (name ?? 'wav').toLowerCase();
  if (wanted === 'pcm16') return 'pcm';
  const found = audioFormats.find((format) => format === wanted);
  if (found !== undefined) return found;
  throw new RequestError(
    400,
    `audio.format "${name}" is not supported; supported: ${audioFormats.join(', ')} (pcm also as pcm16).`,
    'audio.format',
  );
}

/** The rate that audio is said to have: its own, unless a fault says otherwise. */
export function shownRateHz(sampleRateHz: number, fault: RequestFault | null): number {
  return fault?.kind === 'wrong-rate' ? fault.sampleRateHz : sampleRateHz;
}

/** Base64 of a complete file, or of bare samples (pcm). */
export async function encodeAudioText({ pcm, sampleRateHz }: PcmAudio, format: AudioFormat): Promise<string> {
  const file = await encodeAudio(pcm, { sampleRateHz, channels: 1 }, format);
  return file.toString('base64');
}

/** Formats that are made at once. */
export type PlainFormat = 'wav' | 'pcm';

function encodePlain({ pcm, sampleRateHz }: PcmAudio, format: PlainFormat): Buffer {
  const file = format === 'pcm' ? pcm : encodeWav(pcm, { sampleRateHz, channels: 1 });
  return Buffer.from(file.toString('base64'), 'latin1');
}

const kept: Record<PlainFormat, WeakMap<Buffer, Buffer>> = { wav: new WeakMap(), pcm: new WeakMap() };

/**
 * Base64 of a complete WAV file or of bare samples, kept as long as its samples live: simulated chunks of one length
 * share them, so that hundreds of streams of speech cost no more than their writes.
 */
export function encodeSharedAudio(audio: PcmAudio, format: PlainFormat): Buffer {
  let text = kept[format].get(audio.pcm);
  if (text === undefined) {
    text = encodePlain(audio, format);
    kept[format].set(audio.pcm, text);
  }
  return text;
}

const keptCompressed = new WeakMap<Buffer, Map<AudioFormat, Promise<string>>>();

/** The same for formats that take time to make. */
export function encodeSharedCompressed(audio: PcmAudio, format: AudioFormat): Promise<string> {
  let byFormat = keptCompressed.get(audio.pcm);
  if (byFormat === undefined) {
    byFormat = new Map();
    keptCompressed.set(audio.pcm, byFormat);
  }
  let text = byFormat.get(format);
  if (text === undefined) {
    text = encodeAudioText(audio, format);
    byFormat.set(format, text);
  }
  return text;
}

/** Pieces of one sound in one; `null` = there is none. */
export function joinAudio(pieces: readonly PcmAudio[]): PcmAudio | null {
  const [first] = pieces;
  if (first === undefined) return null;
  return {
    samples: pieces.reduce((sum, { samples }) => sum + samples, 0),
    sampleRateHz: first.sampleRateHz,
    pcm: Buffer.concat(pieces.map(({ pcm }) => pcm)),
  };
}
