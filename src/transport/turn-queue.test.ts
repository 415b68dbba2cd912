import { describe, expect, test } from 'vitest';
import { TurnQueue } from './turn-queue.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('TurnQueue', () => {
  test('runs one task each turn, in order, and never inside add', async () => {
    const queue = new TurnQueue();
    const done: number[] = [];
    for (let i = 0; i < 5; i += 1) queue.add(() => done.push(i));
    for (let turns = 0; turns <= 5; turns += 1) {
      expect(done).toEqual([0, 1, 2, 3, 4].slice(0, turns));
      await turn();
    }
  });

  test('takes tasks from tasks, and after it was empty', async () => {
    const queue = new TurnQueue();
    const done: string[] = [];
    queue.add(() => {
      done.push('first');
      queue.add(() => done.push('from first'));
    });
    while (done.length < 2) await turn();
    queue.add(() => done.push('later'));
    while (done.length < 3) await turn();
    expect(done).toEqual(['first', 'from first', 'later']);
  });

  test('a task that throws does not hold up the next', async () => {
    const queue = new TurnQueue();
    const done: string[] = [];
    const thrown = new Promise((resolve) => {
      const kept = process.listeners('uncaughtException');
      process.removeAllListeners('uncaughtException');
      process.once('uncaughtException', (error) => {
        for (const listener of kept) process.on('uncaughtException', listener);
        resolve(error);
      });
    });
    queue.add(() => {
      throw new Error('bug');
    });
    queue.add(() => done.push('next'));
    expect(await thrown).toEqual(new Error('bug'));
    while (done.length < 1) await turn();
  });
});
