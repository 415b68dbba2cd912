import { messageOf, OmnimeterError } from '../foundation/errors.ts';
import { parseWavHeader } from './wav-header.ts';

/** What a sound's or video's container says of it. */
export type ClipFacts = {
  readonly durationS: number;
  /** `null` = it has no picture. */
  readonly video: { readonly widthPx: number; readonly heightPx: number } | null;
  /** `null` = it has no sound. */
  readonly audio: { readonly sampleRateHz: number; readonly channels: number } | null;
};

/** Bytes that are no sound or video. */
export class ClipProbeError extends OmnimeterError {
  override readonly code: string = 'CLIP_PROBE';
}

function wavFacts(bytes: Buffer): ClipFacts | null {
  const header = parseWavHeader(bytes, bytes.length);
  if (!header.ok) return null;
  const { sampleRateHz, channels, bitsPerSample, dataBytes } = header;
  const frames = Math.floor(dataBytes / ((bitsPerSample / 8) * channels));
  return { durationS: frames / sampleRateHz, video: null, audio: { sampleRateHz, channels } };
}

/**
 * Reads length and kind from the container of a sound or video (WAV, MP3, FLAC, Ogg, AAC, MP4, MOV, WebM, Matroska);
 * nothing is decoded, so that a small file cannot become a large one.
 * @throws ClipProbeError
 */
export async function probeClip(bytes: Buffer): Promise<ClipFacts> {
  if (bytes.length === 0) throw new ClipProbeError('the file is empty');
  const wav = wavFacts(bytes);
  if (wav !== null) return wav;
  // Lazy: most requests bring text only.
  const { ALL_FORMATS, BufferSource, Input } = await import('mediabunny');
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(new Uint8Array(bytes)) });
  try {
    const [video, audio] = await Promise.all([input.getPrimaryVideoTrack(), input.getPrimaryAudioTrack()]);
    if (video === null && audio === null) throw new ClipProbeError('it holds neither sound nor picture');
    return {
      durationS: await input.computeDuration(),
      video: video === null ? null : { widthPx: video.displayWidth, heightPx: video.displayHeight },
      audio: audio === null ? null : { sampleRateHz: audio.sampleRate, channels: audio.numberOfChannels },
    };
  } catch (error) {
    if (error instanceof ClipProbeError) throw error;
    throw new ClipProbeError(`not a sound or video that can be read (${messageOf(error)})`, { cause: error });
  } finally {
    input.dispose();
  }
}
