/** A ticket counter beyond every due count. */
const exhausted = 0x7fffffff;

/** Slots of the shared counters; all threads of a run see the same memory. */
const slots = {
  next: 0,
  due: 1,
  inFlight: 2,
  cap: 3,
  stop: 4,
  maxInFlight: 5,
  clock: 6,
  takenAtStop: 7,
} as const;

/**
 * The tickets and concurrency slots of one phase of a run, shared by all load threads and claimed by
 * compare-and-swap: one exact first-in-first-out queue without a hop through the main thread.
 */
export class SharedControl {
  readonly memory: SharedArrayBuffer;
  readonly #cells: Int32Array;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(8 * 4)) {
    this.memory = memory;
    this.#cells = new Int32Array(memory);
  }

  static create(cap: number | null): SharedControl {
    const control = new SharedControl();
    Atomics.store(control.#cells, slots.cap, cap ?? exhausted);
    return control;
  }

  /** How many requests are due so far; tickets below it may be taken. */
  get due(): number {
    return Atomics.load(this.#cells, slots.due);
  }

  /** How many tickets were taken. */
  get taken(): number {
    return Atomics.load(this.#cells, this.stopped ? slots.takenAtStop : slots.next);
  }

  get inFlight(): number {
    return Atomics.load(this.#cells, slots.inFlight);
  }

  get maxInFlight(): number {
    return Atomics.load(this.#cells, slots.maxInFlight);
  }

  get stopped(): boolean {
    return Atomics.load(this.#cells, slots.stop) === 1;
  }

  /**
   * No ticket is given out any more; wakes a sleeping arrival clock. The ticket counter itself is swapped away, so that
   * `taken` is exact: a thread has either its ticket by then, or none.
   */
  stop(): void {
    if (this.stopped) return;
    Atomics.store(this.#cells, slots.takenAtStop, Atomics.exchange(this.#cells, slots.next, exhausted));
    Atomics.store(this.#cells, slots.stop, 1);
    Atomics.add(this.#cells, slots.clock, 1);
    Atomics.notify(this.#cells, slots.clock);
  }

  /** Raises the number of due requests; it never falls. */
  raiseDue(count: number): void {
    for (let seen = this.due; seen < count; seen = this.due) {
      if (Atomics.compareExchange(this.#cells, slots.due, seen, count) === seen) return;
    }
  }

  /**
   * Takes a concurrency slot and the next due ticket, both or neither.
   * @returns the ticket, or −1 when none is due, no slot is free, or the phase was stopped
   */
  claim(): number {
    for (;;) {
      if (Atomics.load(this.#cells, slots.next) >= this.due || !this.#takeSlot()) return -1;
      const ticket = this.#takeTicket();
      if (ticket >= 0) return ticket;
      // Another thread may have found no free slot while this one was held for nothing: look again.
      this.releaseSlot();
    }
  }

  releaseSlot(): void {
    Atomics.sub(this.#cells, slots.inFlight, 1);
  }

  /** Sleeps the calling thread (never the main or a load thread) for at most `ms`, or until the stop. */
  sleep(ms: number): void {
    const seen = Atomics.load(this.#cells, slots.clock);
    if (!this.stopped) Atomics.wait(this.#cells, slots.clock, seen, ms);
  }

  #takeSlot(): boolean {
    const cap = Atomics.load(this.#cells, slots.cap);
    for (let seen = this.inFlight; seen < cap; seen = this.inFlight) {
      if (Atomics.compareExchange(this.#cells, slots.inFlight, seen, seen + 1) === seen) {
        this.#noteInFlight(seen + 1);
        return true;
      }
    }
    return false;
  }

  #takeTicket(): number {
    const next = (): number => Atomics.load(this.#cells, slots.next);
    for (let seen = next(); seen < this.due; seen = next()) {
      if (Atomics.compareExchange(this.#cells, slots.next, seen, seen + 1) === seen) return seen;
    }
    return -1;
  }

  #noteInFlight(count: number): void {
    for (let seen = this.maxInFlight; seen < count; seen = this.maxInFlight) {
      if (Atomics.compareExchange(this.#cells, slots.maxInFlight, seen, count) === seen) return;
    }
  }
}
