import { BitWriter } from './bit-writer.ts';

/** Pixels along each side of a block, all of one colour: one H.264 macroblock. */
export const blockPx = 16;

/** Colours of a picture, a byte per block in raster order each; studio range (16–235, 16–240). */
export type Mosaic = { readonly y: Uint8Array; readonly cb: Uint8Array; readonly cr: Uint8Array };

/** Size of the coded pictures. */
export type MosaicSize = { readonly widthPx: number; readonly heightPx: number };

/** Parameter sets as an MP4 carries them. */
export type ParameterSets = { readonly sps: Buffer; readonly pps: Buffer };

/** Widest a picture number gets before it starts again. */
const frameNumBits = 8;
/** With this quantiser a luma level of n moves a whole block by exactly n (ITU-T H.264, 8.5.10 and 8.5.12). */
const quantiser = 28;
/** And with this offset (quantiser 22) so does a chroma level (8.5.11.2). */
const chromaQuantiserOffset = -6;

export const nalIdr = 0x65;
const nalPicture = 0x41;
const nalSps = 0x67;
const nalPps = 0x68;

/** Levels by what they allow: blocks a picture, blocks a second (ITU-T H.264, table A-1). */
const levels: readonly (readonly [level: number, blocks: number, blocksPerS: number])[] = [
  [30, 1620, 40500],
  [31, 3600, 108000],
  [40, 8192, 245760],
  [42, 8704, 522240],
  [50, 22080, 589824],
  [51, 36864, 983040],
  [52, 36864, 2073600],
  [60, 139264, 4177920],
  [62, 139264, 16711680],
];

export function blocksAcross(px: number): number {
  return Math.ceil(px / blockPx);
}

export function unsigned(bits: BitWriter, value: number): void {
  const code = value + 1;
  const length = 32 - Math.clz32(code);
  if (length > 1) bits.bits(0, length - 1);
  bits.bits(code, length);
}

export function signed(bits: BitWriter, value: number): void {
  unsigned(bits, value > 0 ? 2 * value - 1 : -2 * value);
}

/** A NAL unit: a byte that says what it is, and the payload with its zeros broken up (7.4.1). */
export function nalUnit(header: number, bits: BitWriter): Buffer {
  bits.bits(1, 1);
  bits.align();
  const payload = bits.bytes();
  const unit = [header];
  let zeros = 0;
  for (const byte of payload) {
    if (zeros >= 2 && byte <= 3) {
      unit.push(3);
      zeros = 0;
    }
    unit.push(byte);
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return Buffer.from(unit);
}

/** What a decoder must know of the stream: constrained baseline profile, one reference picture, no reordering. */
export function parameterSets({ widthPx, heightPx }: MosaicSize, fps: number): ParameterSets {
  const across = blocksAcross(widthPx);
  const down = blocksAcross(heightPx);
  const blocks = across * down;
  const level = levels.find(([, most, mostPerS]) => blocks <= most && blocks * fps <= mostPerS)?.[0] ?? 62;
  const sps = new BitWriter(64);
  sps.bits(66, 8);
  sps.bits(0xc0, 8);
  sps.bits(level, 8);
  unsigned(sps, 0);
  unsigned(sps, frameNumBits - 4);
  // Pictures are shown in the order in which they are coded.
  unsigned(sps, 2);
  unsigned(sps, 1);
  sps.bits(0, 1);
  unsigned(sps, across - 1);
  unsigned(sps, down - 1);
  // Frames only, and the inference that goes with it.
  sps.bits(0b11, 2);
  const cropRight = (across * blockPx - widthPx) / 2;
  const cropBottom = (down * blockPx - heightPx) / 2;
  sps.bits(cropRight > 0 || cropBottom > 0 ? 1 : 0, 1);
  if (cropRight > 0 || cropBottom > 0) for (const crop of [0, cropRight, 0, cropBottom]) unsigned(sps, crop);
  sps.bits(0, 1);

  const pps = new BitWriter(64);
  unsigned(pps, 0);
  unsigned(pps, 0);
  // Huffman codes (CAVLC), no slice groups, one reference, no weights.
  pps.bits(0, 2);
  for (const value of [0, 0, 0]) unsigned(pps, value);
  pps.bits(0, 3);
  signed(pps, quantiser - 26);
  signed(pps, 0);
  signed(pps, chromaQuantiserOffset);
  // Slices switch the deblocking filter off, which would blur the blocks' borders.
  pps.bits(0b100, 3);
  return { sps: nalUnit(nalSps, sps), pps: nalUnit(nalPps, pps) };
}

/** How a block says how many levels it has: none, one of ±1, or one of another size; as code and width. */
type TokenCodes = Readonly<Record<'none' | 'one' | 'other', readonly [code: number, width: number]>>;

/** Which codes hold depends on the number of levels in the blocks beside it (table 9-5). */
export const tokenCodes = {
  fewBeside: { none: [1, 1], one: [1, 2], other: [5, 6] },
  manyBeside: { none: [3, 6], one: [1, 6], other: [0, 6] },
  chroma: { none: [1, 2], one: [1, 1], other: [7, 6] },
} as const satisfies Record<string, TokenCodes>;

/** One transform level, alone in its block and first in it (9.2.2 and tables 9-5, 9-7, 9-9a). */
export function level(bits: BitWriter, value: number, codes: TokenCodes): void {
  if (value === 0) {
    bits.bits(...codes.none);
    return;
  }
  if (value === 1 || value === -1) {
    bits.bits(...codes.one);
    bits.bits(value < 0 ? 1 : 0, 1);
  } else {
    bits.bits(...codes.other);
    const code = (value > 0 ? 2 * value - 2 : -2 * value - 1) - 2;
    if (code < 14) bits.unary(code);
    else if (code < 30) {
      bits.unary(14);
      bits.bits(code - 14, 4);
    } else {
      bits.unary(15);
      bits.bits(code - 30, 12);
    }
  }
  // No zeros before it.
  bits.bits(1, 1);
}

/** What the first block, that has no neighbour, is predicted as. */
const unpredicted = 128;

/** How a block is predicted: from its left neighbour, from the one above, or not; as the standard numbers it. */
const fromLeft = { luma: 1, chroma: 1 };
const fromAbove = { luma: 0, chroma: 2 };
const fromNothing = { luma: 2, chroma: 0 };

/** A block by itself: predicted from one neighbour, and the difference of the three colours (7.3.5). */
function intraBlock(bits: BitWriter, picture: Mosaic, at: number, across: number, typeOffset: number): void {
  const column = at % across;
  const neighbour = column > 0 ? at - 1 : at - across;
  const mode = column > 0 ? fromLeft : neighbour >= 0 ? fromAbove : fromNothing;
  const y = (picture.y[at] ?? 0) - (picture.y[neighbour] ?? unpredicted);
  const cb = (picture.cb[at] ?? 0) - (picture.cb[neighbour] ?? unpredicted);
  const cr = (picture.cr[at] ?? 0) - (picture.cr[neighbour] ?? unpredicted);
  const hasChroma = cb !== 0 || cr !== 0;
  unsigned(bits, typeOffset + 1 + mode.luma + (hasChroma ? 4 : 0));
  unsigned(bits, mode.chroma);
  signed(bits, 0);
  level(bits, y, tokenCodes.fewBeside);
  if (!hasChroma) return;
  level(bits, cb, tokenCodes.chroma);
  level(bits, cr, tokenCodes.chroma);
}

export function sliceHeader(bits: BitWriter, frameNum: number, idrId: number | null): void {
  unsigned(bits, 0);
  unsigned(bits, idrId === null ? 5 : 7);
  unsigned(bits, 0);
  bits.bits(frameNum, frameNumBits);
  if (idrId !== null) unsigned(bits, idrId);
  // Number and order of references as they stand; then how this picture is kept as one.
  bits.bits(0, idrId === null ? 3 : 2);
  signed(bits, 0);
  unsigned(bits, 1);
}

/**
 * Encodes pictures made of blocks of one colour each, without loss. It is a whole H.264 encoder only for such
 * pictures: a second of video takes well under a millisecond, so that a server that must answer with real video
 * spends its time on other things.
 */
export class MosaicEncoder {
  readonly #across: number;
  readonly #blocks: number;
  #previous: Mosaic | null = null;
  #frameNum = 0;
  #keyPictures = 0;

  constructor({ widthPx, heightPx }: MosaicSize) {
    this.#across = blocksAcross(widthPx);
    this.#blocks = this.#across * blocksAcross(heightPx);
  }

  /** @returns one NAL unit; a key picture needs none before it */
  encode(picture: Mosaic, keyPicture: boolean): Buffer {
    const previous = this.#previous;
    this.#previous = picture;
    return keyPicture || previous === null ? this.#key(picture) : this.#difference(picture, previous);
  }

  #key(picture: Mosaic): Buffer {
    this.#frameNum = 0;
    const bits = new BitWriter(this.#blocks * 4 + 64);
    sliceHeader(bits, 0, this.#keyPictures % 2);
    this.#keyPictures += 1;
    for (let at = 0; at < this.#blocks; at += 1) intraBlock(bits, picture, at, this.#across, 0);
    return nalUnit(nalIdr, bits);
  }

  /** Blocks that stay as they were are skipped. */
  #difference(picture: Mosaic, previous: Mosaic): Buffer {
    this.#frameNum = (this.#frameNum + 1) % (1 << frameNumBits);
    const bits = new BitWriter(256);
    sliceHeader(bits, this.#frameNum, null);
    let skipped = 0;
    for (let at = 0; at < this.#blocks; at += 1) {
      if (
        picture.y[at] === previous.y[at] &&
        picture.cb[at] === previous.cb[at] &&
        picture.cr[at] === previous.cr[at]
      ) {
        skipped += 1;
        continue;
      }
      unsigned(bits, skipped);
      skipped = 0;
      intraBlock(bits, picture, at, this.#across, 5);
    }
    if (skipped > 0) unsigned(bits, skipped);
    return nalUnit(nalPicture, bits);
  }
}
