import type { Edge, TransferMetadata } from './transfer-metadata.ts';

/** What went over an edge so far. */
export type TransferStats = {
  readonly edge: Edge;
  /** Payloads put. */
  readonly transfers: number;
  readonly bytes: number;
  /** Payloads that reached their stage. */
  readonly received: number;
  /** Time spent in putting, fetching, and lying in between, ms. */
  readonly txMs: number;
  readonly rxMs: number;
  readonly inFlightMs: number;
};

/** One payload that reached its stage. */
export type Transfer = {
  readonly edge: Edge;
  readonly fromReplica: number;
  readonly toReplica: number;
  readonly sizeBytes: number;
  readonly txMs: number;
  readonly rxMs: number;
  readonly inFlightMs: number;
};

type EdgeCounters = { -readonly [Key in keyof Omit<TransferStats, 'edge'>]: number };

/** Keeps account of what goes over the edges, whatever carries it. */
export class TransferLedger {
  readonly #counters = new Map<Edge, EdgeCounters>();
  readonly #observe: ((transfer: Transfer) => void) | null;

  /** @param observe told of every payload that reached its stage; `null` = nobody wants to know */
  constructor(observe: ((transfer: Transfer) => void) | null = null) {
    this.#observe = observe;
  }

  sent(edge: Edge, { sizeBytes, txMs }: TransferMetadata): void {
    let counts = this.#counters.get(edge);
    if (counts === undefined) {
      counts = { transfers: 0, bytes: 0, received: 0, txMs: 0, rxMs: 0, inFlightMs: 0 };
      this.#counters.set(edge, counts);
    }
    counts.transfers += 1;
    counts.bytes += sizeBytes;
    counts.txMs += txMs;
  }

  received(
    edge: Edge,
    { sizeBytes, txMs }: TransferMetadata,
    { rxMs, inFlightMs }: { readonly rxMs: number; readonly inFlightMs: number },
    [fromReplica, toReplica]: readonly [number | null, number | null],
  ): void {
    const counts = this.#counters.get(edge);
    if (counts !== undefined) {
      counts.received += 1;
      counts.rxMs += rxMs;
      counts.inFlightMs += inFlightMs;
    }
    // A transfer of which one end is not known would be counted for the wrong replica.
    if (this.#observe === null || fromReplica === null || toReplica === null) return;
    this.#observe({ edge, fromReplica, toReplica, sizeBytes, txMs, rxMs, inFlightMs });
  }

  stats(): TransferStats[] {
    return [...this.#counters].map(([edge, counts]) => ({ edge, ...counts }));
  }
}
