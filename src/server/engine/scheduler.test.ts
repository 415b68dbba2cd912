import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { timerScheduler } from './scheduler.ts';
import type { ScheduledTask } from './task-heap.ts';

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'performance'],
  });
});
afterEach(() => {
  vi.useRealTimers();
});

function task(dueMs: number, run: (nowMs: number) => void): ScheduledTask {
  return { dueMs, heapSlot: -1, run };
}

describe('the scheduler on timers', () => {
  test('runs tasks in order, never before they are due, with one timer', () => {
    const scheduler = timerScheduler(
      () => performance.now(),
      () => {},
    );
    const startMs = scheduler.nowMs();
    const ran: [number, number][] = [];
    for (const due of [30.5, 10.2, 20, 10.1]) {
      scheduler.add(task(startMs + due, (nowMs) => ran.push([due, nowMs - startMs])));
    }
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(100);
    expect(ran.map(([due]) => due)).toEqual([10.1, 10.2, 20, 30.5]);
    for (const [due, atMs] of ran) {
      expect(atMs).toBeGreaterThanOrEqual(due);
      expect(atMs - due).toBeLessThan(1.01);
    }
    expect(vi.getTimerCount()).toBe(0);
  });

  test('keeps the pace of a task that reckons from its due times', () => {
    const scheduler = timerScheduler(
      () => performance.now(),
      () => {},
    );
    const startMs = scheduler.nowMs();
    let count = 0;
    const ticking = task(startMs + 7.3, () => {
      count += 1;
      ticking.dueMs += 7.3;
      if (count < 1000) scheduler.add(ticking);
    });
    scheduler.add(ticking);
    vi.advanceTimersByTime(7301);
    expect(count).toBe(1000);
  });

  /** How late tasks that come due evenly run at most, once the rate is known, ms. */
  function mostLateMs(perMs: number, unseen: boolean): number {
    const scheduler = timerScheduler(
      () => performance.now(),
      () => {},
    );
    const startMs = scheduler.nowMs() + 0.3;
    let mostMs = 0;
    for (let i = 0; i < perMs * 200; i += 1) {
      const dueMs = startMs + i / perMs;
      const run = (timeMs: number) => {
        if (i > perMs * 100) mostMs = Math.max(mostMs, timeMs - dueMs);
      };
      scheduler.add({ dueMs, heapSlot: -1, unseen, run });
    }
    vi.advanceTimersByTime(300);
    return mostMs;
  }

  test.each([
    { perMs: 12, unseen: false, mostMs: 1 },
    { perMs: 24, unseen: false, mostMs: 2 },
    { perMs: 2, unseen: true, mostMs: 2 },
    { perMs: 12, unseen: true, mostMs: 2 },
  ])('rests longer where tasks are many or unseen: %j', ({ perMs, unseen, mostMs }) => {
    const late = mostLateMs(perMs, unseen);
    expect(late).toBeLessThanOrEqual(mostMs + 0.01);
    if (mostMs > 1 && perMs > 4) expect(late).toBeGreaterThan(1);
  });

  test('tasks that take long leave turns to the event loop', () => {
    let clockMs = 10;
    const scheduler = timerScheduler(
      () => clockMs,
      () => {},
    );
    const ran: string[] = [];
    const slow = (name: string, dueMs: number): ScheduledTask =>
      task(dueMs, () => {
        ran.push(name);
        clockMs += 1;
        setImmediate(() => ran.push(`event after ${name}`));
      });
    for (const [dueMs, name] of ['a', 'b', 'c'].entries()) scheduler.add(slow(name, dueMs));
    vi.runAllTimers();
    expect(ran).toEqual(['a', 'event after a', 'b', 'event after b', 'c', 'event after c']);
  });

  test('a task that throws is reported and stops no other', () => {
    const errors: unknown[] = [];
    const scheduler = timerScheduler(
      () => performance.now(),
      (error) => errors.push(error),
    );
    const nowMs = scheduler.nowMs();
    let ran = false;
    scheduler.add(
      task(nowMs + 1, () => {
        throw new Error('broken');
      }),
    );
    scheduler.add(
      task(nowMs + 1, () => {
        ran = true;
      }),
    );
    vi.advanceTimersByTime(5);
    expect(errors).toEqual([new Error('broken')]);
    expect(ran).toBe(true);
  });

  test('a task that is removed, or left when it closes, never runs', () => {
    const scheduler = timerScheduler(
      () => performance.now(),
      () => {},
    );
    const ran: string[] = [];
    const removed = task(scheduler.nowMs() + 1, () => ran.push('removed'));
    scheduler.add(removed);
    scheduler.add(task(scheduler.nowMs() + 2, () => ran.push('left')));
    scheduler.remove(removed);
    scheduler.close();
    vi.advanceTimersByTime(10);
    expect(ran).toEqual([]);
  });
});
