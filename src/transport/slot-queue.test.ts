import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { SlotQueue, type Ticket } from './slot-queue.ts';

describe('SlotQueue', () => {
  property([
    fc.integer({ min: 1, max: 4 }),
    fc.array(fc.tuple(fc.constantFrom('take', 'release'), fc.nat()), { maxLength: 60 }),
  ])(
    'grants in order, never more than the limit, and never leaves a slot unused while someone waits',
    (limit, steps) => {
      const queue = new SlotQueue(limit);
      const granted: number[] = [];
      const live: { number: number; ticket: Ticket }[] = [];
      const left = new Set<number>();
      let made = 0;
      for (const [step, pick] of steps) {
        if (step === 'take') {
          const number = made;
          made += 1;
          live.push({ number, ticket: queue.take(() => granted.push(number)) });
        } else {
          const [gone] = live.splice(pick % Math.max(1, live.length), 1);
          if (gone === undefined) continue;
          if (!granted.includes(gone.number)) left.add(gone.number);
          queue.release(gone.ticket);
          queue.release(gone.ticket);
        }
        const held = live.filter(({ number }) => granted.includes(number));
        expect(held).toHaveLength(Math.min(limit, live.length));
        expect(granted).toEqual([...granted].sort((a, b) => a - b));
        expect(granted.filter((number) => left.has(number))).toEqual([]);
      }
    },
  );

  test('a hundred thousand waiters are served one after another', () => {
    const queue = new SlotQueue(1);
    let served = 0;
    let holder: Ticket | null = null;
    const tickets = Array.from({ length: 100_000 }, () =>
      queue.take(() => {
        served += 1;
      }),
    );
    for (holder of tickets) queue.release(holder);
    expect(served).toBe(100_000);
  });
});
