import { wavHeaderBytes, writeWavHeader } from '../../media/wav-encode.ts';
import { outputRateHz, type PlaybackSegment } from './playback-queue.ts';

/** The session's output as a file, and what did not fit into it. */
export type AssembledWav = {
  readonly wav: Uint8Array<ArrayBuffer>;
  readonly clippedBytes: number;
  /** Bytes in the file by response. */
  readonly writtenBytes: ReadonlyMap<string, number>;
};

/**
 * Lays segments on a silent file as long as the input, each where it was played; where two overlap the later one
 * counts. What lies after the end is clipped.
 * @param horizonS length of the file, whole seconds
 */
export function assembleWav(
  segments: readonly PlaybackSegment[],
  streamStartMs: number,
  horizonS: number,
): AssembledWav {
  const dataBytes = horizonS * outputRateHz * 2;
  const wav = new Uint8Array(wavHeaderBytes + dataBytes);
  writeWavHeader(Buffer.from(wav.buffer), dataBytes, { sampleRateHz: outputRateHz, channels: 1 });
  const writtenBytes = new Map<string, number>();
  let clippedBytes = 0;
  for (const { responseId, pcm, startMs } of segments) {
    const offset = Math.round((Math.max(0, startMs - streamStartMs) * outputRateHz) / 1000) * 2;
    const writable = Math.min(Math.max(0, dataBytes - offset), pcm.length);
    wav.set(pcm.subarray(0, writable), wavHeaderBytes + Math.min(offset, dataBytes));
    clippedBytes += pcm.length - writable;
    writtenBytes.set(responseId, (writtenBytes.get(responseId) ?? 0) + writable);
  }
  return { wav, clippedBytes, writtenBytes };
}
