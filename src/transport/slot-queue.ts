/** Grants at most a given number of slots at once; who waits is served first come, first served. */
export class SlotQueue {
  readonly #limit: number;
  #taken = 0;
  /** Read from `#head`: shifting an array of thousands costs more than the request. */
  #waiting: (Ticket | null)[] = [];
  #head = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Runs `start` now if a slot is free, else later, from inside another holder's `release`. */
  take(start: () => void): Ticket {
    const ticket: Ticket = { start, state: 'waiting' };
    if (this.#taken < this.#limit) this.#grant(ticket);
    else this.#waiting.push(ticket);
    return ticket;
  }

  /** Gives a slot back, or leaves the queue. A second call does nothing. */
  release(ticket: Ticket): void {
    const held = ticket.state === 'held';
    ticket.state = 'done';
    if (!held) return;
    this.#taken -= 1;
    let next = this.#next();
    while (next !== null && next.state !== 'waiting') next = this.#next();
    if (next !== null) this.#grant(next);
  }

  #grant(ticket: Ticket): void {
    this.#taken += 1;
    ticket.state = 'held';
    ticket.start();
  }

  #next(): Ticket | null {
    const ticket = this.#waiting[this.#head] ?? null;
    if (ticket === null) return null;
    this.#waiting[this.#head] = null;
    this.#head += 1;
    if (this.#head * 2 >= this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#head);
      this.#head = 0;
    }
    return ticket;
  }
}

/** A place in a {@link SlotQueue}. */
export type Ticket = { readonly start: () => void; state: 'waiting' | 'held' | 'done' };

/** A {@link SlotQueue} for each origin. */
export class OriginSlots {
  readonly #limit: number | null;
  readonly #queues = new Map<string, SlotQueue>();

  /** @param limit slots per origin; `null` = no limit */
  constructor(limit: number | null) {
    this.#limit = limit;
  }

  /** Runs `start` now if a slot is free, else later. */
  take(originKey: string, start: () => void): Ticket | null {
    if (this.#limit === null) {
      start();
      return null;
    }
    let queue = this.#queues.get(originKey);
    if (queue === undefined) {
      queue = new SlotQueue(this.#limit);
      this.#queues.set(originKey, queue);
    }
    return queue.take(start);
  }

  release(originKey: string, ticket: Ticket): void {
    this.#queues.get(originKey)?.release(ticket);
  }
}
