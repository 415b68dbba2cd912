/** How much sound one append carries, ms. */
export const chunkMs = 200;

const sampleBytes = 2;

/** One append: bytes of the recording and the frames that ride on it. */
export type InputChunk = {
  readonly start: number;
  readonly end: number;
  readonly durationMs: number;
  /** End of the chunk on the recording's clock, ms. */
  readonly endMs: number;
  /** Indices into the recording's frames. */
  readonly frames: readonly number[];
};

/**
 * Cuts a recording into appends of 200 ms. Frame k shows second k and is due at its middle: it rides on the first
 * append that ends at or after it.
 */
export function inputChunks(pcmBytes: number, sampleRateHz: number, frameCount: number): InputChunk[] {
  const bytesPerS = sampleRateHz * sampleBytes;
  const step = Math.floor((bytesPerS * chunkMs) / 1000 / sampleBytes) * sampleBytes;
  const toMs = (bytes: number): number => Math.floor((bytes * 1000) / bytesPerS);
  const chunks: InputChunk[] = [];
  let frame = 0;
  for (let start = 0; start < pcmBytes; start += step) {
    const end = Math.min(pcmBytes, start + step);
    const endMs = toMs(end);
    const frames: number[] = [];
    for (; frame < frameCount && endMs >= (frame + 0.5) * 1000; frame += 1) frames.push(frame);
    chunks.push({ start, end, durationMs: toMs(end - start), endMs, frames });
  }
  return chunks;
}

/**
 * Length to send so that the commit finds a rest of a model unit to flush, and the decision can be told to be its own:
 * a recording of whole units loses its last sample.
 */
export function lengthWithResidual(pcmBytes: number, sampleRateHz: number, chunkPeriodMs: number): number {
  const unitBytes = (sampleRateHz * sampleBytes * chunkPeriodMs) / 1000;
  return pcmBytes > 0 && pcmBytes % unitBytes === 0 ? pcmBytes - sampleBytes : pcmBytes;
}
