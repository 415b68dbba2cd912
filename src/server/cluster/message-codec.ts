import { isPlainObject } from '../model/deep-merge.ts';

/** Stands in a message's JSON where bytes were; the bytes follow the JSON. */
const bytesKey = '$bytes';
const floatsKey = '$floats';

/** The value with bytes replaced by their place among `pieces`. */
function withoutBytes(value: unknown, pieces: Uint8Array[], place: { bytes: number }): unknown {
  if (value instanceof Uint8Array || value instanceof Float32Array) {
    const piece = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    const at = place.bytes;
    pieces.push(piece);
    place.bytes += piece.length;
    return { [value instanceof Float32Array ? floatsKey : bytesKey]: [at, piece.length] };
  }
  if (Array.isArray(value)) return value.map((each) => withoutBytes(each, pieces, place));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, withoutBytes(each, pieces, place)]),
  );
}

/** A value as bytes: the length of its JSON, the JSON, and the bytes and floats in it as they are. */
export function encodeMessage(value: unknown): Uint8Array {
  const pieces: Uint8Array[] = [];
  const json = Buffer.from(JSON.stringify(withoutBytes(value, pieces, { bytes: 0 })), 'utf8');
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32LE(json.length, 0);
  return Buffer.concat([length, json, ...pieces]);
}

function placeOf(value: unknown): [number, number] | null {
  if (!Array.isArray(value) || value.length !== 2) return null;
  const [at, length]: unknown[] = value;
  return typeof at === 'number' && typeof length === 'number' ? [at, length] : null;
}

/**
 * What {@link encodeMessage} made.
 * @throws Error for bytes that are no message
 */
export function decodeMessage(bytes: Uint8Array): unknown {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const jsonBytes = buffer.length < 4 ? Number.POSITIVE_INFINITY : buffer.readUInt32LE(0);
  if (4 + jsonBytes > buffer.length) throw new Error('a message is shorter than it says');
  const tail = buffer.subarray(4 + jsonBytes);
  const pieceOf = (value: unknown): Buffer | null => {
    const place = placeOf(value);
    if (place === null) return null;
    const [at, length] = place;
    if (at < 0 || length < 0 || at + length > tail.length)
      throw new Error('a message names bytes that it lacks');
    return tail.subarray(at, at + length);
  };
  return JSON.parse(buffer.toString('utf8', 4, 4 + jsonBytes), (_key, value: unknown) => {
    if (!isPlainObject(value)) return value;
    const piece = pieceOf(value[bytesKey]);
    if (piece !== null) return piece;
    const floats = pieceOf(value[floatsKey]);
    // Copied: floats must lie at multiples of four.
    return floats === null ? value : new Float32Array(new Uint8Array(floats).buffer);
  });
}
