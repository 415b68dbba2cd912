import { asArray, asObject, type JsonObject } from '../json-values.ts';

/** Everything a session needs of its request, as plain data beside the sound and the pictures. */
export type LivePlan = {
  /** `session.update` without its event id, as JSON. */
  readonly update: string;
  readonly pcm: Uint8Array;
  readonly frames: readonly (Uint8Array | null)[];
  /** Small settings. */
  readonly settings: JsonObject;
};

/** First bytes of a packed session. */
const magic = 0x314c4d4f;
const headBytes = 16;

/**
 * Packs a session into one block of bytes, since bodies travel to the load threads in shared memory: a head of four
 * 32-bit numbers (magic, lengths of settings, update and sound), settings as JSON, update, sound, frames.
 */
export function packLivePlan({ update, pcm, frames, settings }: LivePlan): Buffer {
  const lengths = frames.map((frame) => frame?.byteLength ?? null);
  const settingsBytes = Buffer.from(JSON.stringify({ ...settings, frameBytes: lengths }));
  const updateBytes = Buffer.from(update);
  const head = Buffer.alloc(headBytes);
  head.writeUInt32LE(magic, 0);
  head.writeUInt32LE(settingsBytes.length, 4);
  head.writeUInt32LE(updateBytes.length, 8);
  head.writeUInt32LE(pcm.byteLength, 12);
  return Buffer.concat([head, settingsBytes, updateBytes, pcm, ...frames.filter((frame) => frame !== null)]);
}

/** Reads a packed session; sound and frames are views of `body`. */
export function unpackLivePlan(body: Uint8Array): LivePlan {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (bytes.length < headBytes || bytes.readUInt32LE(0) !== magic)
    throw new Error('the body is no packed session');
  let at = headBytes;
  const take = (length: number): Buffer => {
    const part = bytes.subarray(at, at + length);
    if (part.length !== length) throw new Error('the packed session is cut off');
    at += length;
    return part;
  };
  const parsed: unknown = JSON.parse(take(bytes.readUInt32LE(4)).toString());
  const { frameBytes, ...settings } = asObject(parsed) ?? {};
  const update = take(bytes.readUInt32LE(8)).toString();
  const pcm = take(bytes.readUInt32LE(12));
  const frames = asArray(frameBytes).map((length) => (typeof length === 'number' ? take(length) : null));
  return { update, pcm, frames, settings };
}
