import type { Scheduler } from '../engine/scheduler.ts';
import type { ScheduledTask } from '../engine/task-heap.ts';

/** What is still to happen, all of which can be called off at once. */
export class TaskSet {
  readonly #scheduler: Scheduler;
  readonly #tasks = new Set<ScheduledTask>();

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  nowMs(): number {
    return this.#scheduler.nowMs();
  }

  /**
   * Runs `what` later.
   * @returns calls it off
   */
  later(delayMs: number, what: () => void): () => void {
    const task: ScheduledTask = {
      dueMs: this.#scheduler.nowMs() + delayMs,
      heapSlot: -1,
      run: () => {
        this.#tasks.delete(task);
        what();
      },
    };
    this.#tasks.add(task);
    this.#scheduler.add(task);
    return () => {
      this.#tasks.delete(task);
      this.#scheduler.remove(task);
    };
  }

  clear(): void {
    for (const task of this.#tasks) this.#scheduler.remove(task);
    this.#tasks.clear();
  }
}
