/** Something that is due at a time. An object of its own, so that a stream of events allocates nothing. */
export type ScheduledTask = {
  /** When it is due, ms on the scheduler's clock. Changed only while the task is not in a heap. */
  dueMs: number;
  /** Where the heap holds it; −1 = nowhere. Owned by the heap. */
  heapSlot: number;
  /** Its running shows nowhere outside: it may be two milliseconds late instead of one. */
  readonly unseen?: boolean;
  /** @param nowMs the clock when the task came to run, ≥ `dueMs` */
  run(nowMs: number): void;
};

/** A binary heap of tasks by due time; each knows its slot, so that removal costs O(log n) as well. */
export class TaskHeap {
  readonly #tasks: ScheduledTask[] = [];

  get size(): number {
    return this.#tasks.length;
  }

  peek(): ScheduledTask | null {
    return this.#tasks[0] ?? null;
  }

  add(task: ScheduledTask): void {
    this.#tasks.push(task);
    this.#rise(task, this.#tasks.length - 1);
  }

  /** Takes a task out; one that is not in the heap is left alone. */
  remove(task: ScheduledTask): void {
    const slot = task.heapSlot;
    if (slot < 0) return;
    task.heapSlot = -1;
    const last = this.#tasks.pop();
    if (last === undefined || last === task) return;
    const parent = this.#tasks[(slot - 1) >> 1];
    if (slot > 0 && parent !== undefined && last.dueMs < parent.dueMs) this.#rise(last, slot);
    else this.#sink(last, slot);
  }

  #rise(task: ScheduledTask, from: number): void {
    let slot = from;
    while (slot > 0) {
      const parentSlot = (slot - 1) >> 1;
      const parent = this.#tasks[parentSlot];
      if (parent === undefined || parent.dueMs <= task.dueMs) break;
      this.#place(parent, slot);
      slot = parentSlot;
    }
    this.#place(task, slot);
  }

  #sink(task: ScheduledTask, from: number): void {
    let slot = from;
    for (;;) {
      const left = 2 * slot + 1;
      let child = this.#tasks[left];
      if (child === undefined) break;
      let childSlot = left;
      const right = this.#tasks[left + 1];
      if (right !== undefined && right.dueMs < child.dueMs) {
        child = right;
        childSlot = left + 1;
      }
      if (child.dueMs >= task.dueMs) break;
      this.#place(child, slot);
      slot = childSlot;
    }
    this.#place(task, slot);
  }

  #place(task: ScheduledTask, slot: number): void {
    this.#tasks[slot] = task;
    task.heapSlot = slot;
  }
}
