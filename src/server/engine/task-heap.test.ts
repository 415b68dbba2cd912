import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { property } from '../../foundation/property.suite.ts';
import { type ScheduledTask, TaskHeap } from './task-heap.ts';

function task(dueMs: number): ScheduledTask {
  return { dueMs, heapSlot: -1, run: () => {} };
}

function drain(heap: TaskHeap): number[] {
  const dues: number[] = [];
  for (let next = heap.peek(); next !== null; next = heap.peek()) {
    dues.push(next.dueMs);
    heap.remove(next);
    expect(next.heapSlot).toBe(-1);
  }
  return dues;
}

const dueTimes = fc.array(fc.double({ noNaN: true, min: 0, max: 1e6 }), { maxLength: 200 });

describe('a heap of tasks', () => {
  property([dueTimes])('yields them in order of their due times', (dues) => {
    const heap = new TaskHeap();
    for (const due of dues) heap.add(task(due));
    expect(drain(heap)).toEqual([...dues].sort((a, b) => a - b));
    expect(heap.size).toBe(0);
  });

  property([dueTimes, fc.array(fc.nat())])('forgets what was removed and nothing else', (dues, picks) => {
    const heap = new TaskHeap();
    const tasks = dues.map(task);
    for (const each of tasks) heap.add(each);
    const removed = new Set(picks.map((pick) => tasks[pick % Math.max(1, tasks.length)]));
    for (const each of removed) {
      if (each === undefined) continue;
      heap.remove(each);
      heap.remove(each);
    }
    const left = tasks.filter((each) => !removed.has(each)).map(({ dueMs }) => dueMs);
    expect(drain(heap)).toEqual(left.sort((a, b) => a - b));
  });
});
