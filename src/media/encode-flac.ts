import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BitWriter } from './bit-writer.ts';
import type { PcmFormat } from './wav-encode.ts';

/** Samples per channel in a frame. */
const blockSamples = 4096;
/** Frames made in one turn of the event loop, about a millisecond. */
const framesPerTurn = 4;
const mostRiceParameter = 14;
const bitsPerSample = 16;

/** Rates that a frame's header can say in four bits; others stand in STREAMINFO alone. */
const rateCodes: Readonly<Record<number, number>> = {
  8000: 4,
  16000: 5,
  22050: 6,
  24000: 7,
  32000: 8,
  44100: 9,
  48000: 10,
  96000: 11,
};

function crcTable(width: 8 | 16, polynomial: number): Uint16Array {
  const top = 1 << (width - 1);
  const mask = width === 8 ? 0xff : 0xffff;
  return Uint16Array.from({ length: 256 }, (_, byte) => {
    let crc = width === 8 ? byte : byte << 8;
    for (let bit = 0; bit < 8; bit += 1)
      crc = ((crc & top) !== 0 ? (crc << 1) ^ polynomial : crc << 1) & mask;
    return crc;
  });
}

const crc8Table = crcTable(8, 0x07);
const crc16Table = crcTable(16, 0x8005);

function crc8(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) crc = crc8Table[crc ^ byte] ?? 0;
  return crc;
}

function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) crc = ((crc << 8) & 0xffff) ^ (crc16Table[(crc >> 8) ^ byte] ?? 0);
  return crc;
}

/** The UTF-8 form of a frame's number. */
function writeFrameNumber(bits: BitWriter, value: number): void {
  if (value < 0x80) {
    bits.bits(value, 8);
    return;
  }
  let followers = 1;
  while (value >= 1 << (6 - followers + 6 * followers)) followers += 1;
  const lead = (0xff << (7 - followers)) & 0xff;
  bits.bits(lead | (value >> (6 * followers)), 8);
  for (let left = followers - 1; left >= 0; left -= 1) bits.bits(0x80 | ((value >> (6 * left)) & 0x3f), 8);
}

/** What is left of each sample when it is predicted from the two before it; zigzag, so that all are ≥ 0. */
function secondDifferences(samples: Int32Array): { folded: Uint32Array; sum: number } {
  const folded = new Uint32Array(Math.max(0, samples.length - 2));
  let sum = 0;
  for (let at = 2; at < samples.length; at += 1) {
    const rest = (samples[at] ?? 0) - 2 * (samples[at - 1] ?? 0) + (samples[at - 2] ?? 0);
    const value = rest >= 0 ? 2 * rest : -2 * rest - 1;
    folded[at - 2] = value;
    sum += value;
  }
  return { folded, sum };
}

/** One channel of a frame: samples as they are where they are few, else predicted and Rice coded. */
function writeSubframe(bits: BitWriter, samples: Int32Array): void {
  const { folded, sum } = secondDifferences(samples);
  const mean = folded.length === 0 ? 0 : sum / folded.length;
  const parameter = Math.max(0, Math.min(mostRiceParameter, Math.floor(Math.log2(Math.max(1, mean)))));
  const coded = folded.length * (parameter + 1) + sum / 2 ** parameter;
  if (samples.length < 3 || coded > samples.length * bitsPerSample) {
    bits.bits(0b00000010, 8);
    for (const sample of samples) bits.bits(sample, bitsPerSample);
    return;
  }
  // Fixed prediction of order 2.
  bits.bits((0b001000 | 2) << 1, 8);
  bits.bits(samples[0] ?? 0, bitsPerSample);
  bits.bits(samples[1] ?? 0, bitsPerSample);
  // Rice coding with parameters of four bits, in a single partition.
  bits.bits(0, 6);
  bits.bits(parameter, 4);
  for (const value of folded) {
    bits.unary(value >>> parameter);
    bits.bits(value, parameter);
  }
}

function encodeFrame(pcm: Buffer, { sampleRateHz, channels }: PcmFormat, index: number): Buffer {
  const first = index * blockSamples;
  const frames = Math.min(blockSamples, pcm.length / 2 / channels - first);
  const bits = new BitWriter(frames * channels * 2 + 64);
  bits.bits(0b11111111111110, 14);
  bits.bits(0, 2);
  // Length in 16 bits at the end of the header, but for frames of the usual 4,096.
  bits.bits(frames === blockSamples ? 0b1100 : 0b0111, 4);
  bits.bits(rateCodes[sampleRateHz] ?? 0, 4);
  bits.bits(channels - 1, 4);
  bits.bits(0b100, 3);
  bits.bits(0, 1);
  writeFrameNumber(bits, index);
  if (frames !== blockSamples) bits.bits(frames - 1, 16);
  bits.bits(crc8(bits.bytes()), 8);
  for (let channel = 0; channel < channels; channel += 1) {
    const samples = new Int32Array(frames);
    for (let at = 0; at < frames; at += 1) {
      samples[at] = pcm.readInt16LE(((first + at) * channels + channel) * 2);
    }
    writeSubframe(bits, samples);
  }
  bits.align();
  bits.bits(crc16(bits.bytes()), 16);
  return Buffer.from(bits.bytes());
}

function streamInfo(pcm: Buffer, { sampleRateHz, channels }: PcmFormat): Buffer {
  const samples = pcm.length / 2 / channels;
  const bits = new BitWriter(64);
  bits.bits(blockSamples, 16);
  bits.bits(blockSamples, 16);
  // Smallest and largest frame: not said.
  bits.bits(0, 24);
  bits.bits(0, 24);
  bits.bits(sampleRateHz, 20);
  bits.bits(channels - 1, 3);
  bits.bits(bitsPerSample - 1, 5);
  bits.bits(Math.floor(samples / 2 ** 24), 12);
  bits.bits(samples % 2 ** 24, 24);
  // "fLaC", and the head of the last metadata block, STREAMINFO of 34 bytes.
  const head = Buffer.from([0x66, 0x4c, 0x61, 0x43, 0x80, 0, 0, 34]);
  return Buffer.concat([head, bits.bytes(), createHash('md5').update(pcm).digest()]);
}

/**
 * A FLAC file (RFC 9639) of exactly these samples.
 * @param pcm 16-bit little-endian, whole frames, of at most 8 channels
 */
export async function encodeFlac(pcm: Buffer, format: PcmFormat): Promise<Buffer> {
  const parts = [streamInfo(pcm, format)];
  const frames = Math.ceil(pcm.length / 2 / format.channels / blockSamples);
  for (let index = 0; index < frames; index += 1) {
    if (index > 0 && index % framesPerTurn === 0) await nextTurn();
    parts.push(encodeFrame(pcm, format, index));
  }
  return Buffer.concat(parts);
}
