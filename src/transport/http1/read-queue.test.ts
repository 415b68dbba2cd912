import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { ReadQueue, type ReadTaker } from './read-queue.ts';

type Taken = { name: string; text: string; timeMs: number };

function taker(name: string, taken: Taken[], then: () => void = () => {}): ReadTaker {
  return {
    takeRead: (bytes, from, to, timeMs) => {
      taken.push({ name, text: bytes.toString('latin1', from, to), timeMs });
      then();
    },
  };
}

/** Reads as a socket does: into the start of the common buffer. */
function read(queue: ReadQueue, by: ReadTaker, text: string): void {
  queue.readBuffer.write(text, 'latin1');
  queue.hold(by, queue.readBuffer, text.length);
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('ReadQueue', () => {
  test('hands nothing on inside hold, then everything in order, each with its own bytes', async () => {
    const queue = new ReadQueue();
    const taken: Taken[] = [];
    const [a, b] = [taker('a', taken), taker('b', taken)];
    read(queue, a, 'one');
    read(queue, b, 'two');
    read(queue, a, 'three');
    queue.hold(b, Buffer.from('its own'), 7);
    expect(taken).toEqual([]);
    while (taken.length < 4) await turn();
    expect(taken.map(({ name, text }) => `${name} ${text}`)).toEqual([
      'a one',
      'b two',
      'a three',
      'b its own',
    ]);
    read(queue, b, 'again');
    while (taken.length < 5) await turn();
    expect(taken[4]).toMatchObject({ name: 'b', text: 'again' });
  });

  test('stamps reads when they are read, whatever parsing costs', async () => {
    const queue = new ReadQueue();
    const taken: Taken[] = [];
    const slow = taker('slow', taken, () => {
      for (const untilMs = performance.now() + 5; performance.now() < untilMs; );
    });
    for (let i = 0; i < 10; i += 1) read(queue, slow, String(i));
    const allReadMs = performance.now();
    while (taken.length < 10) await turn();
    expect(taken.map(({ text }) => Number(text))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(taken.filter(({ timeMs }) => timeMs > allReadMs)).toEqual([]);
  });

  test('lets sockets have a turn between slices', async () => {
    const queue = new ReadQueue();
    const taken: Taken[] = [];
    const slow = taker('slow', taken, () => {
      for (const untilMs = performance.now() + 1; performance.now() < untilMs; );
    });
    for (let i = 0; i < 3; i += 1) read(queue, slow, String(i));
    const seen: number[] = [];
    while (taken.length < 3) {
      await turn();
      seen.push(taken.length);
    }
    expect(seen).toEqual([1, 2, 3]);
  });

  test('drain hands on at once what is held; inside a taker it leaves that to the loop', () => {
    const queue = new ReadQueue();
    const taken: Taken[] = [];
    const draining = taker('draining', taken, () => queue.drain());
    read(queue, draining, 'one');
    read(queue, draining, 'two');
    queue.drain();
    expect(taken.map(({ text }) => text)).toEqual(['one', 'two']);
    queue.drain();
    expect(taken).toHaveLength(2);
  });

  test.prop(
    [fc.array(fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 200_000 })), { minLength: 1, maxLength: 60 })],
    {
      numRuns: 20,
    },
  )('keeps order and bytes for any sizes, also beyond its room', (reads) => {
    const queue = new ReadQueue();
    const taken: Taken[] = [];
    const takers = ['a', 'b', 'c', 'd'].map((name) => taker(name, taken));
    const sent = reads.map(([who, length], i) => {
      const text = String(i % 10).repeat(length);
      const by = takers[who];
      if (by) read(queue, by, text);
      return { name: 'abcd'.charAt(who), text };
    });
    queue.drain();
    expect(taken.map(({ name, text }) => ({ name, text }))).toEqual(sent);
  });

  test('holds any number of small reads', () => {
    const queue = new ReadQueue();
    const taken: Taken[] = [];
    const by = taker('a', taken);
    for (let i = 0; i < 10_000; i += 1) read(queue, by, String(i));
    queue.drain();
    expect(taken.map(({ text }) => Number(text))).toEqual(Array.from({ length: 10_000 }, (_, i) => i));
  });
});
