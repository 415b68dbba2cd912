import type { PcmFormat } from './wav-encode.ts';

/** Zero crossings of the filter on each side. */
const crossings = 16;

function blackman(x: number): number {
  const phase = Math.PI * x;
  return 0.42 + 0.5 * Math.cos(phase) + 0.08 * Math.cos(2 * phase);
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

/** Filter taps for every phase between two input samples; phases repeat after `up` outputs. */
function filterPhases(up: number, down: number): { taps: Float64Array[]; reach: number } {
  const cutoff = Math.min(1, up / down);
  const reach = Math.ceil(crossings / cutoff);
  const taps = Array.from({ length: up }, (_, phase) => {
    const row = new Float64Array(2 * reach);
    let sum = 0;
    for (let tap = 0; tap < row.length; tap += 1) {
      const x = tap - reach + 1 - phase / up;
      const weight = Math.abs(x) < reach ? sinc(x * cutoff) * blackman(x / reach) : 0;
      row[tap] = weight;
      sum += weight;
    }
    return row.map((weight) => weight / sum);
  });
  return { taps, reach };
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

/**
 * Brings 16-bit samples to another rate through a windowed sinc: what the lower rate cannot hold is filtered out.
 * @returns as many samples per channel as the duration has at the new rate, rounded
 */
export function resamplePcm(pcm: Buffer, { sampleRateHz, channels }: PcmFormat, toHz: number): Buffer {
  if (toHz === sampleRateHz) return pcm;
  const divisor = greatestCommonDivisor(toHz, sampleRateHz);
  const up = toHz / divisor;
  const down = sampleRateHz / divisor;
  const { taps, reach } = filterPhases(up, down);
  const frames = Math.floor(pcm.length / 2 / channels);
  const input = new Int16Array(frames * channels);
  for (let at = 0; at < input.length; at += 1) input[at] = pcm.readInt16LE(at * 2);
  const outFrames = Math.round((frames * up) / down);
  const out = Buffer.allocUnsafe(outFrames * channels * 2);
  for (let frame = 0; frame < outFrames; frame += 1) {
    const position = frame * down;
    const first = Math.floor(position / up) - reach + 1;
    const row = taps[position % up] ?? new Float64Array(0);
    for (let channel = 0; channel < channels; channel += 1) {
      let sum = 0;
      for (let tap = 0; tap < row.length; tap += 1) {
        const from = Math.min(frames - 1, Math.max(0, first + tap));
        sum += (row[tap] ?? 0) * (input[from * channels + channel] ?? 0);
      }
      const value = Math.max(-32768, Math.min(32767, Math.round(sum)));
      out.writeInt16LE(value, (frame * channels + channel) * 2);
    }
  }
  return out;
}
