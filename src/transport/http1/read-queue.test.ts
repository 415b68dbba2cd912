import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { property } from '../../foundation/property.suite.ts';
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

/** A clock that only moves when it is told to, ms. */
function handClock() {
  let timeMs = 1000;
  return {
    now: () => timeMs,
    pass: (ms: number) => {
      timeMs += ms;
    },
  };
}

describe('ReadQueue', () => {
  test('a read after a pause is handed on at once, with the time of its reading', () => {
    const clock = handClock();
    const queue = new ReadQueue(clock.now);
    const taken: Taken[] = [];
    const quick = taker('quick', taken, () => clock.pass(0.01));
    for (const text of ['one', 'two', 'three']) {
      read(queue, quick, text);
      expect(taken.at(-1)).toEqual({ name: 'quick', text, timeMs: clock.now() - 0.01 });
      clock.pass(0.5);
    }
  });

  test('once parsing has held up reads, they are held, and handed on in order, each with its own bytes', async () => {
    const clock = handClock();
    const queue = new ReadQueue(clock.now);
    const taken: Taken[] = [];
    const [a, b] = [taker('a', taken, () => clock.pass(1)), taker('b', taken)];
    read(queue, a, 'one');
    expect(taken).toHaveLength(1);
    read(queue, b, 'two');
    read(queue, a, 'three');
    queue.hold(b, Buffer.from('its own'), 7);
    expect(taken).toHaveLength(1);
    while (taken.length < 4) await turn();
    expect(taken.map(({ name, text }) => `${name} ${text}`)).toEqual([
      'a one',
      'b two',
      'a three',
      'b its own',
    ]);
  });

  test('stamps reads when they are read, whatever parsing costs', async () => {
    const clock = handClock();
    const queue = new ReadQueue(clock.now);
    const taken: Taken[] = [];
    const slow = taker('slow', taken, () => clock.pass(5));
    for (let i = 0; i < 10; i += 1) {
      read(queue, slow, String(i));
      clock.pass(0.001);
    }
    while (taken.length < 10) await turn();
    // The first was parsed at once, which took 5 ms; the others were read after it and parsed after the last of them.
    expect(taken.map(({ timeMs }) => Math.round((timeMs - 1000) * 1000))).toEqual([
      0, 5001, 5002, 5003, 5004, 5005, 5006, 5007, 5008, 5009,
    ]);
  });

  test('lets sockets have a turn between slices', async () => {
    const clock = handClock();
    const queue = new ReadQueue(clock.now);
    const taken: Taken[] = [];
    const slow = taker('slow', taken, () => clock.pass(1));
    for (let i = 0; i < 4; i += 1) read(queue, slow, String(i));
    const seen = [taken.length];
    while (taken.length < 4) {
      await turn();
      seen.push(taken.length);
    }
    expect(seen).toEqual([1, 2, 3, 4]);
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

  property(
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
