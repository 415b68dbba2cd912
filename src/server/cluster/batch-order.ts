/**
 * Counts the batches of messages of one sender in one session. What a broker carries it may lose, give twice or out of
 * order, above all around a restart; a request whose messages did not all come must not look like a short one.
 */
export class BatchOrder {
  #sent = 0;
  #received = 0;

  /** Batches sent so far. */
  get sent(): number {
    return this.#sent;
  }

  /** @returns the number of the next batch to send, from 1 */
  next(): number {
    this.#sent += 1;
    return this.#sent;
  }

  /** @returns `next` = take it; `again` = it came before; `gap` = one before it did not come */
  received(batch: number): 'next' | 'again' | 'gap' {
    if (batch <= this.#received) return 'again';
    if (batch > this.#received + 1) return 'gap';
    this.#received = batch;
    return 'next';
  }

  /** Whether some of what the other side says that it sent did not come, though nothing later would tell. */
  misses(sentThere: number): boolean {
    return sentThere > this.#received;
  }
}
