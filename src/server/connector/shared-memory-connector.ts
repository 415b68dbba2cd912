import { z } from 'zod';
import { nowMs } from '../../foundation/clock.ts';
import { messageOf } from '../../foundation/errors.ts';
import type { Connector } from '../pipeline/connector.ts';
import { decodePayload, encodePayload } from './payload-frame.ts';
import { SharedMemoryReader, SharedMemoryRing } from './shared-memory-ring.ts';

const locationSchema = z.object({
  file: z.string(),
  offset: z.number().int().min(0),
  length: z.number().int().min(0),
  sequence: z.number().int(),
  checksum: z.number(),
});

export type SharedMemoryOptions = {
  /** Room for payloads that wait, bytes; larger ones get a file of their own. */
  readonly ringBytes: number;
  /** The clock of the process that puts, for a consumer that reads another; default: this process's. */
  readonly producerNowMs?: () => number;
};

/** Size of a ring where none is named. */
export const defaultRingBytes = 64 * 1024 * 1024;

/** Carries payloads between processes of one host, in memory that both can name. */
export function sharedMemoryConnector(options: SharedMemoryOptions): Connector {
  const clock = options.producerNowMs ?? nowMs;
  let ring: SharedMemoryRing | null = null;
  const reader = new SharedMemoryReader();
  const held = (): { payloads: number; bytes: number } => ring?.held() ?? { payloads: 0, bytes: 0 };
  return {
    name: 'shared-memory',
    put(_edge, requestId, key, chunk, sizeBytes) {
      const startMs = clock();
      // Made with the first payload: a process that only gets has none.
      ring ??= new SharedMemoryRing(options.ringBytes);
      const id = `${requestId}/${key}`;
      const { bytes, checksum } = encodePayload(id, chunk, sizeBytes);
      const location = { ...ring.put(requestId, bytes), checksum };
      const putMs = clock();
      return { requestId, key, sizeBytes, putMs, txMs: putMs - startMs, location };
    },
    get(_edge, { requestId, key, sizeBytes, putMs, location }, deliver) {
      const startMs = clock();
      try {
        const { checksum, ...place } = locationSchema.parse(location);
        const chunk = decodePayload(`${requestId}/${key}`, reader.take(place), checksum, sizeBytes);
        deliver({
          kind: 'payload',
          chunk,
          rxMs: clock() - startMs,
          inFlightMs: Math.max(0, startMs - putMs),
        });
      } catch (error) {
        deliver({ kind: 'failed', message: `Shared memory: ${messageOf(error)}.` });
      }
    },
    cleanup: (requestId) => ring?.abandon(requestId),
    inFlight: () => held().payloads,
    health() {
      const { payloads, bytes } = held();
      return { status: 'up', payloads, heldBytes: bytes };
    },
    close() {
      ring?.close();
      ring = null;
      reader.close();
    },
  };
}
