import type { Random } from '../foundation/random.ts';
import { BitWriter } from './bit-writer.ts';
import {
  blocksAcross,
  level,
  nalIdr,
  nalUnit,
  parameterSets,
  signed,
  sliceHeader,
  tokenCodes,
  unsigned,
} from './h264-mosaic.ts';
import { type Mp4Sample, muxMp4, words } from './mp4-mux.ts';
import { avcTrack } from './mp4-video-track.ts';
import type { NoiseSource } from './noise-source.ts';

/** A video of noise. */
export type NoiseVideo = {
  /** Even. */
  readonly widthPx: number;
  /** Even. */
  readonly heightPx: number;
  readonly numFrames: number;
  readonly fps: number;
};

/** Bytes of a block whose pixels stand as they are: 16 × 16 of brightness, 8 × 8 of each colour difference. */
const lumaBytes = 256;
const chromaBytes = 128;
const rawBytes = lumaBytes + chromaBytes;
/** Random bytes that a block takes: one for its kind, one for its shade, the rest its pixels. */
const drawnBytes = 2 + rawBytes;
/**
 * Blocks of 256 that are noise; the others have one random shade each. x264 makes 0.43 bytes a pixel of noise at
 * its common settings, and blocks as they stand take 1.5: with this share the files are as large.
 */
const rawOf256 = 73;
/** Levels that a raw block counts for where its neighbours choose their codes (ITU-T H.264, 9.2.1). */
const rawLevels = 16;
/** Macroblock types of I slices (table 7-11): raw; predicted from the mean, no colour and no detail. */
const typeRaw = 25;
const typeShade = 3;

/** Studio range (16–235, 16–240), which also keeps zeros out of the stream. */
function pushRaw(bits: BitWriter, pixels: Uint8Array): void {
  bits.align();
  for (const [at, byte] of pixels.entries()) bits.bits(16 + ((byte * (at < lumaBytes ? 220 : 225)) >> 8), 8);
}

function pushShade(bits: BitWriter, shade: number, levelsBeside: number): void {
  unsigned(bits, typeShade);
  unsigned(bits, 0);
  signed(bits, 0);
  level(bits, shade, levelsBeside >= 8 ? tokenCodes.manyBeside : tokenCodes.fewBeside);
}

/** The mean of the levels to the left and above, as far as there are such blocks. */
function levelsBeside(raw: readonly boolean[], at: number, across: number): number {
  const left = at % across > 0 ? at - 1 : null;
  const above = at >= across ? at - across : null;
  const levels = [left, above].flatMap((index) => (index === null ? [] : [raw[index] ? rawLevels : 0]));
  const sum = levels.reduce((total: number, count) => total + count, 0);
  return levels.length === 2 ? (sum + 1) >> 1 : sum;
}

/** One picture, complete in itself, as a NAL unit. */
function noisePicture(size: { across: number; blocks: number }, drawn: Buffer, index: number): Buffer {
  const { across, blocks } = size;
  const bits = new BitWriter(blocks * 160 + 64);
  sliceHeader(bits, 0, index % 2);
  const raw: boolean[] = [];
  for (let at = 0; at < blocks; at += 1) {
    const [kind = 0, shade = 0] = drawn.subarray(at * drawnBytes, at * drawnBytes + 2);
    raw[at] = kind < rawOf256;
    if (raw[at]) {
      unsigned(bits, typeRaw);
      pushRaw(bits, drawn.subarray(at * drawnBytes + 2, (at + 1) * drawnBytes));
    } else pushShade(bits, shade - 128, levelsBeside(raw, at, across));
  }
  return nalUnit(nalIdr, bits);
}

/**
 * An MP4 (H.264) of random blocks, made without any other program: every picture differs, and the file is as large
 * as x264 makes one of pure noise. The same on every machine.
 */
export function builtInNoiseVideo(video: NoiseVideo, random: Random, noise: NoiseSource): Buffer {
  const { widthPx, heightPx, numFrames, fps } = video;
  const across = blocksAcross(widthPx);
  const blocks = across * blocksAcross(heightPx);
  const samples: Mp4Sample[] = [];
  for (let index = 0; index < numFrames; index += 1) {
    const unit = noisePicture({ across, blocks }, noise.bytes(blocks * drawnBytes, random), index);
    samples.push({ bytes: Buffer.concat([words(unit.length), unit]), isSync: true });
  }
  return muxMp4([avcTrack({ widthPx, heightPx, fps, ...parameterSets(video, fps), samples })]);
}
