/** Sampling rates by index in an ADTS header (ISO/IEC 14496-3, table 1.18), Hz. */
const ratesHz = [96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350];
const headerBytes = 7;

export type AdtsLength = {
  readonly sampleRateHz: number;
  readonly channels: number;
  /** Samples per channel. */
  readonly frames: number;
  /** The last frame is not whole. */
  readonly isCut: boolean;
};

/**
 * The length of raw AAC in ADTS frames, from their headers: decoders differ over encoder delay and over doubling
 * the rate, the headers do not.
 * @returns `null` where the bytes do not begin with an ADTS frame; a frame that is cut off does not count
 */
export function adtsLength(bytes: Uint8Array): AdtsLength | null {
  let found: { sampleRateHz: number; channels: number } | null = null;
  let frames = 0;
  let isCut = false;
  for (let at = 0; at + headerBytes <= bytes.length; ) {
    const [b0 = 0, b1 = 0, b2 = 0, b3 = 0, b4 = 0, b5 = 0, b6 = 0] = bytes.subarray(at, at + headerBytes);
    const sampleRateHz = ratesHz[(b2 >> 2) & 15];
    const frameBytes = ((b3 & 3) << 11) | (b4 << 3) | (b5 >> 5);
    if (b0 !== 0xff || (b1 & 0xf6) !== 0xf0 || sampleRateHz === undefined || frameBytes < headerBytes) break;
    isCut = at + frameBytes > bytes.length;
    if (isCut) break;
    found ??= { sampleRateHz, channels: ((b2 & 1) << 2) | (b3 >> 6) };
    // A frame holds one to four blocks of 1,024 samples.
    frames += 1024 * ((b6 & 3) + 1);
    at += frameBytes;
  }
  return found === null ? null : { ...found, channels: channelsOf(found.channels), frames, isCut };
}

/** Channel configuration 7 is 7.1; 0 says that the stream itself tells, which is stereo in practice. */
function channelsOf(configuration: number): number {
  if (configuration === 7) return 8;
  return configuration === 0 ? 2 : configuration;
}
