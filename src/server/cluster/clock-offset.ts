/** Exchanges that are kept: clocks drift, so the best of the last ones counts, not of all. */
const keptExchanges = 12;

/**
 * How far another process's clock is ahead of this one's, from exchanges of messages. Of the last exchanges the one
 * with the shortest round trip is right to within half of that.
 */
export class ClockOffset {
  #exchanges: { readonly roundTripMs: number; readonly offsetMs: number }[] = [];
  #offsetMs = 0;

  /** Other clock minus this one, ms; 0 before the first exchange. */
  get ms(): number {
    return this.#offsetMs;
  }

  /** @param otherMs the other clock, read between `sentMs` and `receivedMs` of this one */
  exchanged(sentMs: number, otherMs: number, receivedMs: number): void {
    const exchange = { roundTripMs: receivedMs - sentMs, offsetMs: otherMs - (sentMs + receivedMs) / 2 };
    this.#exchanges = [...this.#exchanges.slice(1 - keptExchanges), exchange];
    const [first = exchange, ...others] = this.#exchanges;
    this.#offsetMs = others.reduce(
      (best, each) => (each.roundTripMs < best.roundTripMs ? each : best),
      first,
    ).offsetMs;
  }

  /** Another process was met: what was known of the last one's clock is void. */
  reset(): void {
    this.#exchanges = [];
    this.#offsetMs = 0;
  }
}
