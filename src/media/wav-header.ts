/** What a WAV header says, and how many bytes of samples stand behind it. */
export type WavHeader = {
  readonly ok: true;
  /** 1 = PCM, 3 = IEEE float, 6 = A-law, 7 = µ-law; the sub-format where the tag is EXTENSIBLE. */
  readonly formatTag: number;
  readonly channels: number;
  readonly sampleRateHz: number;
  /** Bits that one stored sample takes, a multiple of 8. */
  readonly bitsPerSample: number;
  /** Where the samples begin. */
  readonly dataOffset: number;
  /** Bytes of samples that are really there; a length that is unknown or too large is cut to that. */
  readonly dataBytes: number;
  /** Bytes of samples that the header announces; `null` = it was written before the length was known. */
  readonly announcedBytes: number | null;
};

export type WavHeaderFailure = {
  readonly ok: false;
  /** `incomplete`: more of the beginning is needed. `unsupported`: a WAV whose samples have no fixed size. */
  readonly kind: 'not_wav' | 'incomplete' | 'unsupported';
  readonly reason: string;
};

const tagExtensible = 0xfffe;
/** Tags whose samples have a fixed size, so that frames follow from bytes. */
const fixedSizeTags = new Set([1, 3, 6, 7]);
const unknownLength = 0xffffffff;
/**
 * Lengths from here on stand for "not known": writers that stream leave −1, 2³¹ − 1 or one of them less the header.
 * No reply holds 2 GiB of samples.
 */
const firstUnknownLength = 0x7fff0000;

type Format = Pick<WavHeader, 'formatTag' | 'channels' | 'sampleRateHz' | 'bitsPerSample'>;

function fail(kind: WavHeaderFailure['kind'], reason: string): WavHeaderFailure {
  return { ok: false, kind, reason };
}

function chunkId(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}

/** The `fmt ` chunk's content at `at`; WAVEFORMATEX and WAVEFORMATEXTENSIBLE of the Windows SDK. */
function readFormat(view: DataView, at: number, size: number): Format | WavHeaderFailure {
  if (size < 16) return fail('not_wav', `the format chunk has ${size} bytes, expected at least 16`);
  let formatTag = view.getUint16(at, true);
  const channels = view.getUint16(at + 2, true);
  const sampleRateHz = view.getUint32(at + 4, true);
  const bitsPerSample = Math.ceil(view.getUint16(at + 14, true) / 8) * 8;
  if (formatTag === tagExtensible && size >= 26) formatTag = view.getUint16(at + 24, true);
  if (channels === 0) return fail('not_wav', 'the header says 0 channels');
  if (sampleRateHz === 0) return fail('not_wav', 'the header says 0 Hz');
  if (fixedSizeTags.has(formatTag) && bitsPerSample === 0)
    return fail('not_wav', 'the header says 0 bits a sample');
  if (!fixedSizeTags.has(formatTag))
    return fail('unsupported', `compressed WAV (format tag ${formatTag}, ${bitsPerSample} bits)`);
  return { formatTag, channels, sampleRateHz, bitsPerSample };
}

/**
 * The length of the samples. Writers that stream do not know it and leave 0, −1 or the largest number; a 0 counts
 * only where the file's own length agrees with it.
 */
function dataLength(declared: number, available: number, riffSizeHolds: boolean): number {
  if (declared === 0 && !riffSizeHolds) return available;
  return Math.min(declared, available);
}

/**
 * Reads a WAV header, without needing the samples.
 * @param first the beginning of the file, as far as it is at hand
 * @param totalBytes length of the whole file, ≥ first.length
 */
export function parseWavHeader(first: Uint8Array, totalBytes: number): WavHeader | WavHeaderFailure {
  if (totalBytes < 12) return fail('not_wav', `${totalBytes} bytes are too few for a WAV header`);
  if (first.length < 12) return fail('incomplete', `only ${first.length} bytes of the header are at hand`);
  const riff = chunkId(first, 0);
  if ((riff !== 'RIFF' && riff !== 'RF64' && riff !== 'BW64') || chunkId(first, 8) !== 'WAVE')
    return fail('not_wav', `expected RIFF…WAVE, got bytes ${hex(first.subarray(0, 12))}`);
  const view = new DataView(first.buffer, first.byteOffset, first.byteLength);
  const riffSizeHolds = view.getUint32(4, true) + 8 === totalBytes;
  let format: Format | null = null;
  let longDataBytes: number | null = null;
  for (let at = 12; at + 8 <= first.length; ) {
    const id = chunkId(first, at);
    const size = view.getUint32(at + 4, true);
    const body = at + 8;
    if (id === 'data') {
      if (format === null) return fail('not_wav', 'the samples begin before the format is given');
      const declared = size === unknownLength && longDataBytes !== null ? longDataBytes : size;
      return {
        ok: true,
        ...format,
        dataOffset: body,
        dataBytes: dataLength(declared, totalBytes - body, riffSizeHolds),
        announcedBytes:
          (declared === 0 && !riffSizeHolds) || (size === declared && size >= firstUnknownLength)
            ? null
            : declared,
      };
    }
    const needed = id === 'fmt ' ? Math.min(size, 40) : id === 'ds64' ? 16 : 0;
    if (body + needed > first.length) break;
    if (id === 'fmt ') {
      const read = readFormat(view, body, size);
      if ('ok' in read) return read;
      format = read;
    }
    if (id === 'ds64' && size >= 16) longDataBytes = Number(view.getBigUint64(body + 8, true));
    // Chunks are padded to an even length.
    at = body + size + (size % 2);
  }
  if (first.length < totalBytes)
    return fail('incomplete', `the header does not end within the first ${first.length} bytes`);
  return fail('not_wav', 'there is no chunk of samples');
}

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
}
