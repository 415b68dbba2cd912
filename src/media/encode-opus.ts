import { setImmediate as nextTurn } from 'node:timers/promises';
import type OpusScript from 'opusscript';
import { resamplePcm } from './resample-pcm.ts';
import type { PcmFormat } from './wav-encode.ts';

const rates = [8000, 12000, 16000, 24000, 48000] as const;
type OpusRate = (typeof rates)[number];

/** Samples at 48 kHz that the decoder drops at the start: what the encoder looks ahead (6.5 ms). */
const preSkipSamples = 312;
const packetMs = 20;
const bitsPerS = 48_000;
/** OPUS_SET_COMPLEXITY; at the least, 10 s of speech take 20 ms instead of 800. */
const complexityControl = { request: 4010, value: 0 };
/** Packets in one page of Ogg: a second. */
const packetsPerPage = 50;
const granuleRateHz = 48000;

const oggCrcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24;
  for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x80000000) !== 0 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  return crc >>> 0;
});

function oggCrc(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) crc = ((crc << 8) ^ (oggCrcTable[(crc >>> 24) ^ byte] ?? 0)) >>> 0;
  return crc;
}

/** What stands in the head of a page of Ogg (RFC 3533). */
type PageHead = { readonly flags: number; readonly granule: number; readonly sequence: number };

const firstPage = 2;
const lastPage = 4;

function oggPage({ flags, granule, sequence }: PageHead, packets: readonly Buffer[]): Buffer {
  const lacing = packets.flatMap(({ length }) => [
    ...new Array<number>(Math.floor(length / 255)).fill(255),
    length % 255,
  ]);
  const head = Buffer.alloc(27);
  head.write('OggS', 0, 'latin1');
  head.writeUInt8(flags, 5);
  head.writeBigUInt64LE(BigInt(granule), 6);
  head.writeUInt32LE(1, 14);
  head.writeUInt32LE(sequence, 18);
  head.writeUInt8(lacing.length, 26);
  const page = Buffer.concat([head, Buffer.from(lacing), ...packets]);
  page.writeUInt32LE(oggCrc(page), 22);
  return page;
}

function identification(channels: number, inputRateHz: number): Buffer {
  const head = Buffer.alloc(19);
  head.write('OpusHead', 0, 'latin1');
  head.writeUInt8(1, 8);
  head.writeUInt8(channels, 9);
  head.writeUInt16LE(preSkipSamples, 10);
  head.writeUInt32LE(inputRateHz, 12);
  return head;
}

function comments(): Buffer {
  const vendor = Buffer.from('libopus', 'latin1');
  const tags = Buffer.alloc(8 + 4 + vendor.length + 4);
  tags.write('OpusTags', 0, 'latin1');
  tags.writeUInt32LE(vendor.length, 8);
  vendor.copy(tags, 12);
  return tags;
}

async function encodePackets(
  pcm: Buffer,
  rate: OpusRate,
  channels: number,
  count: number,
): Promise<Buffer[]> {
  // Lazy: WebAssembly that most runs do not need.
  const { default: Opus } = await import('opusscript');
  const encoder: OpusScript = new Opus(rate, channels, Opus.Application.AUDIO);
  try {
    encoder.setBitrate(bitsPerS);
    encoder.encoderCTL(complexityControl.request, complexityControl.value);
    const frameSamples = (rate * packetMs) / 1000;
    const frameBytes = frameSamples * channels * 2;
    const packets: Buffer[] = [];
    for (let index = 0; index < count; index += 1) {
      if (index > 0 && index % packetsPerPage === 0) await nextTurn();
      const present = pcm.subarray(index * frameBytes, (index + 1) * frameBytes);
      const frame = Buffer.alloc(frameBytes);
      present.copy(frame);
      packets.push(Buffer.from(encoder.encode(frame, frameSamples)));
    }
    return packets;
  } finally {
    encoder.delete();
  }
}

/**
 * Opus in Ogg (RFC 7845), of exactly as long a sound: the granule position of the last page says where it ends.
 * @param pcm 16-bit little-endian, one or two channels
 */
export async function encodeOpus(pcm: Buffer, { sampleRateHz, channels }: PcmFormat): Promise<Buffer> {
  const rate = rates.find((supported) => supported === sampleRateHz) ?? 48000;
  const sound = resamplePcm(pcm, { sampleRateHz, channels }, rate);
  const samples = Math.round((sound.length / 2 / channels) * (granuleRateHz / rate));
  const packetSamples = (granuleRateHz * packetMs) / 1000;
  const count = Math.ceil((samples + preSkipSamples) / packetSamples);
  const packets = await encodePackets(sound, rate, channels, count);
  const pages = [
    oggPage({ flags: firstPage, granule: 0, sequence: 0 }, [identification(channels, sampleRateHz)]),
    oggPage({ flags: 0, granule: 0, sequence: 1 }, [comments()]),
  ];
  for (let from = 0; from < packets.length; from += packetsPerPage) {
    const to = Math.min(packets.length, from + packetsPerPage);
    const isLast = to === packets.length;
    const granule = isLast ? samples + preSkipSamples : to * packetSamples;
    const head = { flags: isLast ? lastPage : 0, granule, sequence: pages.length };
    pages.push(oggPage(head, packets.slice(from, to)));
  }
  return Buffer.concat(pages);
}
