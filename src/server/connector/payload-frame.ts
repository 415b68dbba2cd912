import { crc32 } from 'node:zlib';
import { z } from 'zod';
import type { StageChunk } from '../engine/stage-engine.ts';

const patternBytes = 1024 * 1024;
let pattern: Buffer | null = null;

/** Bytes that do not compress, the same in every process. */
function filler(): Buffer {
  if (pattern !== null) return pattern;
  const bytes = Buffer.allocUnsafe(patternBytes);
  let state = 0x2545f491;
  for (let at = 0; at < patternBytes; at += 4) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes.writeInt32LE(state | 0, at);
  }
  pattern = bytes;
  return bytes;
}

const chunkSchema = z.object({
  readyMs: z.number(),
  units: z.number(),
  producerStepMs: z.number(),
  kv: z
    .object({ transferId: z.string(), remoteEngineId: z.string(), remoteRequestId: z.string() })
    .nullable(),
  final: z.boolean(),
});

const headerSchema = z.object({ key: z.string(), chunk: chunkSchema });

/** A payload as bytes, and the checksum over all of them. */
export type PayloadFrame = { readonly bytes: Buffer; readonly checksum: number };

/**
 * A chunk with as many bytes of content as a real one would have: a length, a header, the content.
 * @param key unique among payloads, so that one that is read in another's place is found out
 */
export function encodePayload(key: string, chunk: StageChunk, sizeBytes: number): PayloadFrame {
  const header = Buffer.from(JSON.stringify({ key, chunk }), 'utf8');
  const bytes = Buffer.allocUnsafe(4 + header.length + sizeBytes);
  bytes.writeUInt32LE(header.length, 0);
  header.copy(bytes, 4);
  for (let at = 4 + header.length; at < bytes.length; at += patternBytes) filler().copy(bytes, at);
  return { bytes, checksum: crc32(bytes) };
}

/** @throws Error where the bytes are not those that were put under this key */
export function decodePayload(key: string, bytes: Buffer, checksum: number, sizeBytes: number): StageChunk {
  const damaged = (what: string): Error => new Error(`payload ${key} arrived damaged: ${what}`);
  const computed = crc32(bytes);
  if (computed !== checksum) throw damaged(`checksum ${computed} instead of ${checksum}`);
  const headerBytes = bytes.length < 4 ? 0 : bytes.readUInt32LE(0);
  const contentBytes = bytes.length - 4 - headerBytes;
  if (contentBytes !== sizeBytes) throw damaged(`${contentBytes} bytes instead of ${sizeBytes}`);
  const header = headerSchema.parse(JSON.parse(bytes.toString('utf8', 4, 4 + headerBytes)));
  if (header.key !== key) throw damaged(`it is that of ${header.key}`);
  return header.chunk;
}
