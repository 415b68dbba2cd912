/** One access unit: its bytes, and whether a player may start at it. */
export type Mp4Sample = { readonly bytes: Buffer; readonly isSync: boolean };

/** A track, all of whose samples last equally long. */
export type Mp4Track = {
  readonly kind: 'video' | 'audio';
  /** Sample entry of the `stsd` box, a whole box. */
  readonly sampleEntry: Buffer;
  /** Ticks per second. */
  readonly timescale: number;
  readonly ticksPerSample: number;
  readonly samples: readonly Mp4Sample[];
  /** Ticks that are shown, from `skipTicks` on; `null` = all of them. */
  readonly shownTicks: number | null;
  /** Ticks at the start that a decoder needs and nobody hears. */
  readonly skipTicks: number;
  readonly widthPx: number;
  readonly heightPx: number;
};

/** Ticks per second of the movie as a whole. */
const movieTimescale = 1000;
const unityMatrix = [0x00010000, 0, 0, 0, 0x00010000, 0, 0, 0, 0x40000000];

/** Big-endian numbers of 32 bits. */
export function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, index * 4);
  return bytes;
}

/** Big-endian numbers of 16 bits. */
export function halfWords(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value & 0xffff, index * 2);
  return bytes;
}

/** A box of ISO/IEC 14496-12: its size, its name of four letters, what it holds. */
export function box(name: string, ...parts: readonly Buffer[]): Buffer {
  const size = parts.reduce((sum, part) => sum + part.length, 8);
  return Buffer.concat([words(size), Buffer.from(name, 'latin1'), ...parts]);
}

/** A box with a version and flags. */
function fullBox(name: string, version: number, flags: number, ...parts: readonly Buffer[]): Buffer {
  return box(name, words((version << 24) | flags), ...parts);
}

function inMovieTime(ticks: number, timescale: number): number {
  return Math.round((ticks / timescale) * movieTimescale);
}

function ticksOf(track: Mp4Track): number {
  return track.samples.length * track.ticksPerSample;
}

function shownTicksOf(track: Mp4Track): number {
  return track.shownTicks ?? ticksOf(track) - track.skipTicks;
}

function sampleTable(track: Mp4Track, dataOffset: number): Buffer {
  const { samples } = track;
  const sync = samples.flatMap(({ isSync }, index) => (isSync ? [index + 1] : []));
  return box(
    'stbl',
    fullBox('stsd', 0, 0, words(1), track.sampleEntry),
    fullBox('stts', 0, 0, words(1, samples.length, track.ticksPerSample)),
    ...(sync.length === samples.length ? [] : [fullBox('stss', 0, 0, words(sync.length, ...sync))]),
    // All samples of a track lie in one chunk.
    fullBox('stsc', 0, 0, words(1, 1, samples.length, 1)),
    fullBox('stsz', 0, 0, words(0, samples.length, ...samples.map(({ bytes }) => bytes.length))),
    fullBox('stco', 0, 0, words(1, dataOffset)),
  );
}

function trackBox(track: Mp4Track, trackId: number, dataOffset: number): Buffer {
  const isVideo = track.kind === 'video';
  const shown = shownTicksOf(track);
  const header = fullBox(
    'tkhd',
    0,
    3,
    words(0, 0, trackId, 0, inMovieTime(shown, track.timescale), 0, 0),
    halfWords(0, 0, isVideo ? 0 : 0x0100, 0),
    words(...unityMatrix, track.widthPx * 0x10000, track.heightPx * 0x10000),
  );
  const handler = fullBox(
    'hdlr',
    0,
    0,
    words(0),
    Buffer.from(isVideo ? 'vide' : 'soun', 'latin1'),
    words(0, 0, 0),
    Buffer.from(isVideo ? 'video\0' : 'audio\0', 'latin1'),
  );
  const mediaHeader = isVideo
    ? fullBox('vmhd', 0, 1, halfWords(0, 0, 0, 0))
    : fullBox('smhd', 0, 0, halfWords(0, 0));
  const here = box('dinf', fullBox('dref', 0, 0, words(1), fullBox('url ', 0, 1)));
  const media = box(
    'mdia',
    fullBox('mdhd', 0, 0, words(0, 0, track.timescale, ticksOf(track)), halfWords(0x55c4, 0)),
    handler,
    box('minf', mediaHeader, here, sampleTable(track, dataOffset)),
  );
  const isTrimmed = track.skipTicks > 0 || shown < ticksOf(track);
  const edits = isTrimmed
    ? [
        box(
          'edts',
          fullBox('elst', 0, 0, words(1, inMovieTime(shown, track.timescale), track.skipTicks, 0x00010000)),
        ),
      ]
    : [];
  return box('trak', header, ...edits, media);
}

function movieBox(tracks: readonly Mp4Track[], dataOffsets: readonly number[]): Buffer {
  const duration = Math.max(...tracks.map((track) => inMovieTime(shownTicksOf(track), track.timescale)));
  const header = fullBox(
    'mvhd',
    0,
    0,
    words(0, 0, movieTimescale, duration, 0x00010000),
    halfWords(0x0100, 0),
    words(0, 0, ...unityMatrix, 0, 0, 0, 0, 0, 0, tracks.length + 1),
  );
  return box(
    'moov',
    header,
    ...tracks.map((track, index) => trackBox(track, index + 1, dataOffsets[index] ?? 0)),
  );
}

/** An MP4 file whose index comes first, so that it can be played while it is still arriving. */
export function muxMp4(tracks: readonly Mp4Track[]): Buffer {
  const type = box(
    'ftyp',
    Buffer.from('isom', 'latin1'),
    words(512),
    Buffer.from('isomiso2avc1mp41', 'latin1'),
  );
  const sizes = tracks.map(({ samples }) => samples.reduce((sum, { bytes }) => sum + bytes.length, 0));
  const movieBytes = movieBox(tracks, []).length;
  let offset = type.length + movieBytes + 8;
  const offsets = sizes.map((size) => {
    offset += size;
    return offset - size;
  });
  const data = tracks.flatMap(({ samples }) => samples.map(({ bytes }) => bytes));
  return Buffer.concat([type, movieBox(tracks, offsets), box('mdat', ...data)]);
}
