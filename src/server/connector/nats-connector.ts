import { z } from 'zod';
import { nowMs } from '../../foundation/clock.ts';
import { messageOf } from '../../foundation/errors.ts';
import type { Broker } from '../cluster/broker.ts';
import type { Connector, Delivery } from '../pipeline/connector.ts';
import type { TransferMetadata } from '../pipeline/transfer-metadata.ts';
import { decodePayload, encodePayload } from './payload-frame.ts';

const locationSchema = z.object({
  subject: z.string().regex(/^[\w.-]+$/),
  length: z
    .number()
    .int()
    .min(0)
    .max(2 ** 32),
  partBytes: z.number().int().min(1),
  checksum: z.number(),
});

type Location = z.infer<typeof locationSchema>;

export type NatsConnectorOptions = {
  readonly broker: Broker;
  /** Where this process answers for its payloads; unique among the deployment's processes. */
  readonly subject: string;
  /** The clock of the process that puts, for a consumer that reads another; default: this process's. */
  readonly producerNowMs?: () => number;
};

/** How long a part may take to come, ms. */
const partTimeoutMs = 10_000;
/** Parts of one payload that are asked for at once. */
const partsAtOnce = 4;

const requestSchema = z.object({ id: z.string(), part: z.number().int().min(0) });

type Held = { readonly bytes: Buffer; readonly requestId: string; left: number };

/**
 * Carries payloads between hosts: the producer keeps them, and the consumer asks for them part by part through the
 * broker. So nothing is sent that nobody fetches, and a payload may be larger than the broker's largest message.
 */
export function natsConnector(options: NatsConnectorOptions): Connector {
  const { broker, subject, producerNowMs: clock = nowMs } = options;
  const held = new Map<string, Held>();
  const partBytes = broker.mostAnswerBytes;
  let stopAnswering: (() => void) | null = null;
  /** The last fetch of each request, which the next one waits for: chunks arrive in order. */
  const fetching = new Map<string, Promise<void>>();

  const answer = (request: Uint8Array): Uint8Array => {
    const { id, part } = requestSchema.parse(JSON.parse(Buffer.from(request).toString('utf8')));
    const payload = held.get(id);
    if (payload === undefined) return new Uint8Array(0);
    payload.left -= 1;
    if (payload.left === 0) held.delete(id);
    return payload.bytes.subarray(part * partBytes, (part + 1) * partBytes);
  };

  const fetchParts = async (id: string, location: Location): Promise<Buffer | null> => {
    const count = Math.ceil(location.length / location.partBytes);
    const parts: Uint8Array[] = new Array(count);
    let next = 0;
    const fetchSome = async (): Promise<void> => {
      for (let part = next++; part < count; part = next++) {
        const request = Buffer.from(JSON.stringify({ id, part }), 'utf8');
        parts[part] = await broker.request(location.subject, request, partTimeoutMs);
      }
    };
    await Promise.all(Array.from({ length: Math.min(partsAtOnce, count) }, fetchSome));
    const whole = Buffer.concat(parts);
    return whole.length === 0 ? null : whole;
  };
  const fetched = async (metadata: TransferMetadata): Promise<Delivery> => {
    const startMs = clock();
    const { requestId, key, sizeBytes, putMs } = metadata;
    try {
      const location = locationSchema.parse(metadata.location);
      const bytes = await fetchParts(`${requestId}/${key}`, location);
      if (bytes === null) return { kind: 'gone' };
      const chunk = decodePayload(`${requestId}/${key}`, bytes, location.checksum, sizeBytes);
      const inFlightMs = Math.max(0, startMs - putMs);
      return { kind: 'payload', chunk, rxMs: clock() - startMs, inFlightMs };
    } catch (error) {
      return { kind: 'failed', message: `NATS: ${messageOf(error)}` };
    }
  };
  const heldBytes = (): number => [...held.values()].reduce((sum, { bytes }) => sum + bytes.length, 0);

  return {
    name: 'nats',
    put(_edge, requestId, key, chunk, sizeBytes) {
      const startMs = clock();
      if (!broker.isUp()) throw new Error(`The broker ${broker.address} cannot be reached.`);
      stopAnswering ??= broker.answer(subject, answer);
      const id = `${requestId}/${key}`;
      const { bytes, checksum } = encodePayload(id, chunk, sizeBytes);
      held.set(id, { bytes, requestId, left: Math.ceil(bytes.length / partBytes) });
      const putMs = clock();
      const location = { subject, length: bytes.length, partBytes, checksum };
      return { requestId, key, sizeBytes, putMs, txMs: putMs - startMs, location };
    },
    get(_edge, metadata, deliver) {
      const { requestId } = metadata;
      const before = fetching.get(requestId) ?? Promise.resolve();
      const delivery = fetched(metadata);
      const done = before.then(async () => deliver(await delivery));
      fetching.set(requestId, done);
      void done.finally(() => {
        if (fetching.get(requestId) === done) fetching.delete(requestId);
      });
    },
    cleanup(requestId) {
      for (const [id, payload] of held) if (payload.requestId === requestId) held.delete(id);
    },
    inFlight: () => held.size,
    health: () => ({
      status: broker.isUp() ? 'up' : 'down',
      payloads: held.size,
      heldBytes: heldBytes(),
    }),
    close() {
      stopAnswering?.();
      stopAnswering = null;
      held.clear();
    },
  };
}
