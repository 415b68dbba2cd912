import type { Scheduler } from './scheduler.ts';
import { TaskHeap } from './task-heap.ts';

/** A scheduler whose clock jumps from task to task: an hour of simulated serving takes as long as its arithmetic. */
export type VirtualScheduler = Scheduler & {
  /** Runs everything that is due up to `untilMs`, all by default, and returns the clock. */
  runUntil(untilMs?: number): number;
};

/** @param startMs the clock's first reading */
export function virtualScheduler(startMs = 0): VirtualScheduler {
  const heap = new TaskHeap();
  let clockMs = startMs;
  return {
    nowMs: () => clockMs,
    add: (task) => heap.add(task),
    remove: (task) => heap.remove(task),
    close() {
      for (let task = heap.peek(); task !== null; task = heap.peek()) heap.remove(task);
    },
    runUntil(untilMs = Number.POSITIVE_INFINITY) {
      for (let task = heap.peek(); task !== null && task.dueMs <= untilMs; task = heap.peek()) {
        heap.remove(task);
        clockMs = Math.max(clockMs, task.dueMs);
        task.run(clockMs);
      }
      if (untilMs !== Number.POSITIVE_INFINITY) clockMs = Math.max(clockMs, untilMs);
      return clockMs;
    },
  };
}
