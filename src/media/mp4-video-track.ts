import { box, halfWords, type Mp4Sample, type Mp4Track, words } from './mp4-mux.ts';

/** Denominators of the rates that film and television use. */
const rateDenominators = [1, 1001, 10, 100, 1000];

/** Ticks per second and per frame whose quotient is the rate, to within a millionth where no common one fits. */
export function frameTicks(fps: number): { timescale: number; ticksPerSample: number } {
  for (const ticksPerSample of rateDenominators) {
    const timescale = fps * ticksPerSample;
    const whole = Math.round(timescale);
    if (whole > 0 && Math.abs(timescale - whole) <= 1e-6 * timescale)
      return { timescale: whole, ticksPerSample };
  }
  return { timescale: 1_000_000, ticksPerSample: Math.round(1_000_000 / fps) };
}

/** How a player learns to decode the track: ISO/IEC 14496-15, 5.3.3 and 5.4.2. */
function avcSampleEntry(widthPx: number, heightPx: number, sps: Buffer, pps: Buffer): Buffer {
  const configuration = box(
    'avcC',
    Buffer.from([1, sps[1] ?? 0, sps[2] ?? 0, sps[3] ?? 0, 0xff, 0xe1]),
    halfWords(sps.length),
    sps,
    Buffer.from([1]),
    halfWords(pps.length),
    pps,
  );
  return box(
    'avc1',
    halfWords(0, 0, 0, 1, 0, 0),
    words(0, 0, 0),
    halfWords(widthPx, heightPx),
    words(0x00480000, 0x00480000, 0),
    halfWords(1),
    Buffer.alloc(32),
    halfWords(0x0018, 0xffff),
    configuration,
  );
}

/** A track of H.264 pictures, each with its length before it, all shown equally long. */
export function avcTrack(video: {
  readonly widthPx: number;
  readonly heightPx: number;
  /** May be fractional. */
  readonly fps: number;
  readonly sps: Buffer;
  readonly pps: Buffer;
  readonly samples: readonly Mp4Sample[];
}): Mp4Track {
  const { widthPx, heightPx, fps, sps, pps, samples } = video;
  return {
    kind: 'video',
    sampleEntry: avcSampleEntry(widthPx, heightPx, sps, pps),
    ...frameTicks(fps),
    samples,
    shownTicks: null,
    skipTicks: 0,
    widthPx,
    heightPx,
  };
}
