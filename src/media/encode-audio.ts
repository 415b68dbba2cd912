import { encodeAac } from './encode-aac.ts';
import { encodeFlac } from './encode-flac.ts';
import { encodeMp3 } from './encode-mp3.ts';
import { encodeOpus } from './encode-opus.ts';
import { encodeWav, type PcmFormat } from './wav-encode.ts';

/** Formats that audio is made in; `pcm` is the bare samples. */
export const audioFormats = ['wav', 'pcm', 'flac', 'mp3', 'opus', 'aac'] as const;
export type AudioFormat = (typeof audioFormats)[number];

/** `Content-Type` of each format. */
export const audioMimeTypes: Readonly<Record<AudioFormat, string>> = {
  wav: 'audio/wav',
  pcm: 'audio/pcm',
  flac: 'audio/flac',
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
};

/**
 * A complete file of 16-bit little-endian samples. WAV, PCM, FLAC, Opus and MP3 hold exactly as many as went in
 * (Opus and MP3 say which of the decoded ones count), AAC whole frames of 1,024.
 */
export async function encodeAudio(pcm: Buffer, pcmFormat: PcmFormat, format: AudioFormat): Promise<Buffer> {
  switch (format) {
    case 'wav':
      return encodeWav(pcm, pcmFormat);
    case 'pcm':
      return pcm;
    case 'flac':
      return encodeFlac(pcm, pcmFormat);
    case 'mp3':
      return encodeMp3(pcm, pcmFormat);
    case 'opus':
      return encodeOpus(pcm, pcmFormat);
    case 'aac':
      return encodeAac(pcm, pcmFormat);
  }
}
