/** Something to be written to a socket of its own. */
export type BurstWrite = { write(): void };

/** So many writes are not held together: a turn of the event loop must not last long. */
const mostWrites = 64;

/**
 * Writes of one turn of the event loop, done one right after the other at its end. A stage's tokens of a turn go to as
 * many sockets; written as each is made, every write would wake a reader who has just gone to sleep, which costs the
 * writer as much as the write. Order within a stream is the order of adding.
 */
export class WriteBurst {
  #writes: BurstWrite[] = [];

  add(write: BurstWrite): void {
    const count = this.#writes.push(write);
    if (count === 1) queueMicrotask(() => this.flush());
    else if (count >= mostWrites) this.flush();
  }

  /** Writes what waits, e.g. before something that must come after it. */
  flush(): void {
    if (this.#writes.length === 0) return;
    const writes = this.#writes;
    this.#writes = [];
    for (const write of writes) write.write();
  }
}
