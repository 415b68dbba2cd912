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

/** Places of the tag that LAME leaves in an MP3's index frame, from the mark `Xing` or `Info` on. */
const lameTag = { at: 116, delays: 137 };

/** Samples at both ends of an MP3 that are its encoder's own, as its tag says; 0 = it says nothing. */
function mp3OwnSamples(bytes: Buffer): number {
  const start = bytes.subarray(0, 4096);
  const mark = Math.max(start.indexOf('Xing', 0, 'latin1'), start.indexOf('Info', 0, 'latin1'));
  if (mark < 0 || mark + lameTag.delays + 3 > bytes.length) return 0;
  // Behind it stands the table of contents, and where flag 8 is set a quality.
  const at = mark + (bytes.readUInt32BE(mark + 4) & 8 ? 4 : 0);
  if (!['LAME', 'Lavf', 'Lavc'].includes(bytes.toString('latin1', at + lameTag.at, at + lameTag.at + 4)))
    return 0;
  const delays = bytes.readUIntBE(at + lameTag.delays, 3);
  return (delays >> 12) + (delays & 0xfff);
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
    if (audio !== null && !(audio.numberOfChannels > 0 && audio.sampleRate > 0))
      throw new ClipProbeError(`its sound has ${audio.numberOfChannels} channels at ${audio.sampleRate} Hz`);
    const durationS = await input.computeDuration();
    const ownS = audio === null || video !== null ? 0 : mp3OwnSamples(bytes) / audio.sampleRate;
    return {
      durationS: durationS - ownS,
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
