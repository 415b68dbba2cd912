/**
 * Runs tasks in order, one for each turn of the event loop and after its reads, so that a burst of them does not hold up
 * the events that come in meanwhile.
 */
export class TurnQueue {
  /** Read from `#head`: shifting an array of thousands costs more than the task. */
  #tasks: (() => void)[] = [];
  #head = 0;

  add(task: () => void): void {
    this.#tasks.push(task);
    if (this.#tasks.length - this.#head === 1) setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    const task = this.#tasks[this.#head];
    this.#head += 1;
    if (this.#head < this.#tasks.length) setImmediate(this.#turn);
    if (this.#head * 2 >= this.#tasks.length) {
      this.#tasks = this.#tasks.slice(this.#head);
      this.#head = 0;
    }
    task?.();
  };
}
