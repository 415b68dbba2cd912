import { encodeAac } from './encode-aac.ts';
import { box, halfWords, type Mp4Sample, type Mp4Track, words } from './mp4-mux.ts';
import type { PcmFormat } from './wav-encode.ts';

/** Samples per channel in one AAC frame. */
const frameSamples = 1024;
/** Samples that the encoder puts before the first of the sound. */
const primingSamples = 1024;
const adtsHeaderBytes = 7;

/** A descriptor of MPEG-4 systems (ISO/IEC 14496-1, 8.3): tag, length, content. */
function descriptor(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, content.length]), content]);
}

/** The sample entry, from what the first ADTS header says of profile, rate and channels. */
function mp4aSampleEntry(header: Buffer, { sampleRateHz, channels }: PcmFormat): Buffer {
  const [, , third = 0, fourth = 0] = header;
  const objectType = (third >> 6) + 1;
  const rateIndex = (third >> 2) & 0xf;
  const channelConfiguration = ((third & 1) << 2) | (fourth >> 6);
  const specific = halfWords((objectType << 11) | (rateIndex << 7) | (channelConfiguration << 3));
  const decoder = descriptor(4, Buffer.from([0x40, 0x15, 0, 0, 0]), words(0, 0), descriptor(5, specific));
  const stream = descriptor(3, halfWords(0), Buffer.from([0]), decoder, descriptor(6, Buffer.from([2])));
  return box(
    'mp4a',
    halfWords(0, 0, 0, 1),
    words(0, 0),
    halfWords(channels, 16, 0, 0),
    words(sampleRateHz * 0x10000),
    box('esds', words(0), stream),
  );
}

/** The bare frames of an ADTS stream. */
function framesOf(adts: Buffer): Mp4Sample[] {
  const frames: Mp4Sample[] = [];
  for (let at = 0; at + adtsHeaderBytes <= adts.length; ) {
    const length =
      ((adts.readUInt8(at + 3) & 3) << 11) | (adts.readUInt8(at + 4) << 3) | (adts.readUInt8(at + 5) >> 5);
    if (length <= adtsHeaderBytes) break;
    frames.push({ bytes: adts.subarray(at + adtsHeaderBytes, at + length), isSync: true });
    at += length;
  }
  return frames;
}

/** An AAC track of exactly these samples: what the encoder adds before and behind is edited out. */
export async function aacTrack(pcm: Buffer, format: PcmFormat): Promise<Mp4Track> {
  const adts = await encodeAac(pcm, format);
  return {
    kind: 'audio',
    sampleEntry: mp4aSampleEntry(adts.subarray(0, adtsHeaderBytes), format),
    timescale: format.sampleRateHz,
    ticksPerSample: frameSamples,
    samples: framesOf(adts),
    shownTicks: pcm.length / 2 / format.channels,
    skipTicks: primingSamples,
    widthPx: 0,
    heightPx: 0,
  };
}
