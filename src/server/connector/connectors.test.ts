import { existsSync, mkdtempSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Broker, connectBroker } from '../cluster/broker.ts';
import {
  type NatsServer,
  natsServerPath,
  noNatsServer,
  startNatsServer,
} from '../cluster/nats-server.suite.ts';
import type { StageChunk } from '../engine/stage-engine.ts';
import { virtualScheduler } from '../engine/virtual-scheduler.ts';
import type { Connector, Delivery } from '../pipeline/connector.ts';
import type { TransferMetadata } from '../pipeline/transfer-metadata.ts';
import { delayedConnector } from './delayed-connector.ts';
import { edgeConnectors } from './edge-connectors.ts';
import { inProcessConnector } from './in-process-connector.ts';
import { natsConnector } from './nats-connector.ts';
import { decodePayload, encodePayload } from './payload-frame.ts';
import { sharedMemoryConnector } from './shared-memory-connector.ts';
import { SharedMemoryReader, SharedMemoryRing } from './shared-memory-ring.ts';

const edge = { from: 0, to: 1 };
const chunk: StageChunk = { readyMs: 12.5, units: 3, producerStepMs: 19.41, kv: null, final: false };

function got(connector: Connector, metadata: TransferMetadata, over = edge): Promise<Delivery> {
  return new Promise((resolve) => connector.get(over, metadata, resolve));
}

/** As another process gets it: by what crosses over as JSON. */
function crossed(metadata: TransferMetadata): TransferMetadata {
  return JSON.parse(JSON.stringify(metadata));
}

const open: { close(): unknown }[] = [];
afterEach(() => {
  for (const each of open.splice(0).reverse()) each.close();
});
function opened<Value extends { close(): unknown }>(value: Value): Value {
  open.push(value);
  return value;
}

let nats: NatsServer | null = null;
let broker: Broker | null = null;
beforeAll(async () => {
  if (natsServerPath === null) return;
  nats = await startNatsServer();
  broker = await connectBroker(`nats://127.0.0.1:${nats.port}`, 'test');
});
afterAll(async () => {
  await broker?.close();
  await nats?.kill();
});

const ofNats = (subject = 'omnimeter.test.payload'): Connector => {
  if (broker === null) throw new Error('no broker');
  return natsConnector({ broker, subject });
};

const kinds: [name: string, skip: boolean, make: () => { source: Connector; sink: Connector }][] = [
  [
    'in process',
    false,
    () => {
      const connector = inProcessConnector();
      return { source: connector, sink: connector };
    },
  ],
  [
    'shared memory',
    false,
    () => ({
      source: sharedMemoryConnector({ ringBytes: 65536 }),
      sink: sharedMemoryConnector({ ringBytes: 65536 }),
    }),
  ],
  [
    `NATS${natsServerPath === null ? noNatsServer : ''}`,
    natsServerPath === null,
    () => ({ source: ofNats(), sink: ofNats('omnimeter.test.other') }),
  ],
];

describe.each(kinds)('a connector: %s', (_name, skip, make) => {
  const pair = (): { source: Connector; sink: Connector } => {
    const { source, sink } = make();
    return { source: opened(source), sink: opened(sink) };
  };

  test.skipIf(skip).each([
    ['a small payload', 64],
    ['none but its header', 0],
    ['one that no ring holds, in several messages of a broker', 3_000_000],
  ])('delivers %s once, whole, and counts it', async (_what, sizeBytes) => {
    const { source, sink } = pair();
    const kv = { transferId: 'xfer-a', remoteEngineId: 'e', remoteRequestId: 'r' };
    const metadata = source.put(edge, 'a', '0_0', { ...chunk, kv }, sizeBytes);
    expect(metadata).toMatchObject({ requestId: 'a', key: '0_0', sizeBytes });
    expect(source.inFlight()).toBe(1);
    const delivery = await got(sink, crossed(metadata));
    expect(delivery).toMatchObject({ kind: 'payload', chunk: { ...chunk, kv } });
    if (delivery.kind === 'payload') {
      expect(delivery.rxMs).toBeGreaterThanOrEqual(0);
      expect(delivery.inFlightMs).toBeGreaterThanOrEqual(0);
    }
    expect(source.inFlight()).toBe(0);
    expect(source.health()).toMatchObject({ status: 'up', payloads: 0, heldBytes: 0 });
  });

  test.skipIf(skip)('delivers the chunks of a request in order', async () => {
    const { source, sink } = pair();
    const metadata = Array.from({ length: 20 }, (_, index) =>
      source.put(edge, 'a', `0_${index}`, { ...chunk, units: index }, index === 0 ? 2_000_000 : 10),
    );
    const units: number[] = [];
    await Promise.all(
      metadata.map(async (each) => {
        const delivery = await got(sink, each);
        if (delivery.kind === 'payload') units.push(delivery.chunk.units);
      }),
    );
    expect(units).toEqual(Array.from({ length: 20 }, (_, index) => index));
  });

  test.skipIf(skip)('drops what a request that ended has left, and nothing else', async () => {
    const { source, sink } = pair();
    source.put(edge, 'gone', '0_0', chunk, 100);
    source.put(edge, 'gone', '0_1', chunk, 200_000);
    const kept = source.put(edge, 'kept', '0_0', chunk, 100);
    source.cleanup('gone');
    expect(source.inFlight()).toBe(1);
    expect(await got(sink, kept)).toMatchObject({ kind: 'payload' });
    expect(source.inFlight()).toBe(0);
  });
});

describe('a payload', () => {
  const { bytes, checksum } = encodePayload('a/0_0', chunk, 1000);
  const damaged = (at: number): Buffer => {
    const copy = Buffer.from(bytes);
    copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
    return copy;
  };
  test.each([
    ['a bit of its content flipped', () => decodePayload('a/0_0', damaged(900), checksum, 1000), /checksum/],
    ['a bit of its header flipped', () => decodePayload('a/0_0', damaged(5), checksum, 1000), /checksum/],
    ['cut short', () => decodePayload('a/0_0', bytes.subarray(0, 500), checksum, 1000), /checksum/],
    [
      'of another size than was said',
      () => decodePayload('a/0_0', bytes, checksum, 999),
      /1000 bytes instead of 999/,
    ],
    ['put for another', () => decodePayload('b/0_0', bytes, checksum, 1000), /that of a\/0_0/],
    ['empty', () => decodePayload('a/0_0', Buffer.alloc(0), 0, 0), /arrived damaged/],
  ])('%s is refused', (_what, decode, message) => {
    expect(decode).toThrow(message);
  });

  test('that was written over in shared memory fails its request', async () => {
    const source = opened(sharedMemoryConnector({ ringBytes: 65536 }));
    const metadata = source.put(edge, 'a', '0_0', chunk, 100);
    const { file, offset } = metadata.location;
    writeSync(openSync(String(file), 'r+'), Buffer.from('x'), 0, 1, Number(offset) + 20);
    expect(await got(source, metadata)).toEqual({
      kind: 'failed',
      message: expect.stringMatching(/^Shared memory: payload a\/0_0 arrived damaged: checksum/),
    });
  });
});

describe('a ring in shared memory', () => {
  const folder = (): string => {
    const made = mkdtempSync(join(tmpdir(), 'omnimeter-rings-'));
    open.push({ close: () => rmSync(made, { recursive: true }) });
    return made;
  };

  test('uses its room again, in the order in which payloads were taken', () => {
    const ring = opened(new SharedMemoryRing(1000));
    const reader = opened(new SharedMemoryReader());
    const put = (text: string, length: number): ReturnType<SharedMemoryRing['put']> =>
      ring.put('r', Buffer.alloc(length, text));
    const a = put('a', 400);
    const b = put('b', 400);
    // No room: a file of its own, which its reader removes.
    const c = put('c', 400);
    expect([a.sequence, b.sequence, c.sequence]).toEqual([1, 2, -1]);
    expect(reader.take(c).toString()).toBe('c'.repeat(400));
    expect(existsSync(c.file)).toBe(false);
    // The second is taken first: its room is free only when the first is.
    expect(reader.take(b).toString()).toBe('b'.repeat(400));
    expect(put('d', 300).sequence).toBe(-1);
    expect(reader.take(a).toString()).toBe('a'.repeat(400));
    const e = put('e', 900);
    expect([e.offset, e.sequence > 0]).toEqual([a.offset, true]);
    expect(reader.take(e).toString()).toBe('e'.repeat(900));
  });

  test('goes round for ever without mixing payloads up', () => {
    const ring = opened(new SharedMemoryRing(5000));
    const reader = opened(new SharedMemoryReader());
    const waiting: { location: ReturnType<SharedMemoryRing['put']>; text: string }[] = [];
    for (let round = 0; round < 2000; round += 1) {
      const text = `${round}:`.padEnd(20 + ((round * 131) % 900), 'x');
      waiting.push({ location: ring.put(`r${round}`, Buffer.from(text)), text });
      // Some are given up, some are taken out of order.
      if (round % 7 === 3) {
        const given = waiting.splice(waiting.length - 1, 1)[0];
        if (given !== undefined) ring.abandon(`r${round}`);
      }
      while (waiting.length > (round % 5) + 1) {
        const [next] = waiting.splice(round % 2 === 0 ? 0 : waiting.length - 1, 1);
        if (next !== undefined) expect(reader.take(next.location).toString()).toBe(next.text);
      }
    }
    for (const { location, text } of waiting) expect(reader.take(location).toString()).toBe(text);
    expect(ring.held()).toEqual({ payloads: 0, bytes: 0 });
  });

  test('leaves nothing behind, and takes away what a killed process left', () => {
    const at = folder();
    const left = mkdtempSync(join(at, 'omnimeter-999999999-'));
    const ring = new SharedMemoryRing(1000, at);
    expect(existsSync(left)).toBe(false);
    ring.put('r', Buffer.alloc(2000));
    expect(readdirSync(at)).toHaveLength(1);
    ring.close();
    ring.close();
    expect(readdirSync(at)).toEqual([]);
  });

  test('a reader opens no file but a ring’s', () => {
    const reader = opened(new SharedMemoryReader());
    for (const file of [
      '/etc/passwd',
      '/dev/shm/../etc/omnimeter-1/passwd',
      '/dev/shm/omnimeter-1-a/../../passwd',
    ])
      expect(() => reader.take({ file, offset: 0, length: 1, sequence: 1 })).toThrow(
        /no place of shared payloads/,
      );
  });
});

describe('a slowed link', () => {
  const slowed = (latencyMs: number, bytesPerMs: number | null) => {
    const scheduler = virtualScheduler(100);
    const connector = delayedConnector(inProcessConnector(), { latencyMs, bytesPerMs }, scheduler);
    const arrived: [key: string, atMs: number, readyMs: number][] = [];
    const send = (requestId: string, key: string, sizeBytes: number, over = edge): void => {
      const metadata = connector.put(
        over,
        requestId,
        key,
        { ...chunk, readyMs: scheduler.nowMs() },
        sizeBytes,
      );
      connector.get(over, metadata, (delivery) => {
        if (delivery.kind === 'payload') arrived.push([key, scheduler.nowMs(), delivery.chunk.readyMs]);
      });
    };
    return { scheduler, connector, arrived, send };
  };

  test('sends one payload after another, each of which arrives a latency later', () => {
    const { scheduler, send, arrived } = slowed(5, 100);
    send('a', 'first', 1000);
    send('b', 'second', 2000);
    send('c', 'elsewhere', 1000, { from: 1, to: 2 });
    expect(arrived).toEqual([]);
    scheduler.runUntil();
    // 10 ms and 20 ms of sending on one link, 10 ms on the other; 5 ms on the way.
    expect(arrived).toEqual([
      ['first', 115, 115],
      ['elsewhere', 115, 115],
      ['second', 135, 135],
    ]);
  });

  test('delivers nothing to a request that ended', () => {
    const { scheduler, connector, send, arrived } = slowed(5, null);
    send('a', 'first', 1);
    send('b', 'second', 1);
    connector.cleanup('a');
    scheduler.runUntil();
    expect(arrived.map(([key]) => key)).toEqual(['second']);
    expect(connector.inFlight()).toBe(0);
  });
});

test('one connector out of several asks each for its own edges', async () => {
  const other = { from: 1, to: 2 };
  const [a, b] = [opened(inProcessConnector()), opened(sharedMemoryConnector({ ringBytes: 65536 }))];
  const both = edgeConnectors(
    new Map([
      [edge, a],
      [other, b],
    ]),
  );
  const first = both.put(edge, 'r', '0_0', chunk, 10);
  const second = both.put(other, 'r', '1_0', chunk, 10);
  expect([a.inFlight(), b.inFlight(), both.inFlight()]).toEqual([1, 1, 2]);
  expect(await got(both, first)).toMatchObject({ kind: 'payload' });
  both.cleanup('r');
  expect(both.inFlight()).toBe(0);
  expect(both.name).toBe('in-process, shared-memory');
  expect(() => both.put({ from: 0, to: 1 }, 'r', 'k', chunk, second.sizeBytes)).toThrow(/No connector/);
});
