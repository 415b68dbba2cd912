/** Bytes of an ID3v2 tag at the beginning, header included; 0 = none. Its size is written in 7 bits a byte. */
export function id3Length(bytes: Uint8Array): number {
  if (bytes.length < 10 || String.fromCharCode(...bytes.subarray(0, 3)) !== 'ID3') return 0;
  return 10 + bytes.subarray(6, 10).reduce((size, byte) => size * 128 + (byte & 127), 0);
}

/**
 * Channels by the first frame header of an MP3 (ISO/IEC 11172-3).
 * @returns `null` where the bytes, after a tag, do not begin with a Layer III frame
 */
export function mp3Channels(bytes: Uint8Array): 1 | 2 | null {
  const at = id3Length(bytes);
  const [sync = 0, version = 0, , mode = 0] = bytes.subarray(at, at + 4);
  if (sync !== 0xff || (version & 0xe6) !== 0xe2) return null;
  return mode >> 6 === 3 ? 1 : 2;
}
