import { encodeWav } from '../../media/wav-encode.ts';
import type { PcmAudio } from '../engine/stage-engine.ts';
import { RequestError } from './request-error.ts';

export const audioFormats = ['wav', 'pcm'] as const;
export type AudioFormat = (typeof audioFormats)[number];

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
    `audio.format "${name}" is not supported by this server; supported at present: wav, pcm (also as pcm16).`,
    'audio.format',
  );
}

/** Base64 of a complete file (wav) or of bare samples (pcm). */
export function encodeAudio(audio: PcmAudio, format: AudioFormat): string {
  if (format === 'pcm') return audio.pcm.toString('base64');
  return encodeWav(audio.pcm, { sampleRateHz: audio.sampleRateHz, channels: 1 }).toString('base64');
}

const kept: Record<AudioFormat, WeakMap<Buffer, string>> = { wav: new WeakMap(), pcm: new WeakMap() };

/**
 * As {@link encodeAudio}, and kept as long as its samples live: simulated chunks of one length share them, so that
 * hundreds of streams of speech cost no more than their writes.
 */
export function encodeSharedAudio(audio: PcmAudio, format: AudioFormat): string {
  let text = kept[format].get(audio.pcm);
  if (text === undefined) {
    text = encodeAudio(audio, format);
    kept[format].set(audio.pcm, text);
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
