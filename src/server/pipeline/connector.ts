import type { StageChunk } from '../engine/stage-engine.ts';

/** From which stage to which. */
export type Edge = { readonly from: number; readonly to: number };

/** What the control plane tells the consumer of a payload, so that it can fetch it. */
export type TransferMetadata = {
  readonly requestId: string;
  readonly key: string;
  readonly sizeBytes: number;
  /** When the payload was ready to be fetched, ms on the process's clock. */
  readonly putMs: number;
};

/** What went over an edge so far. */
export type TransferStats = {
  readonly edge: Edge;
  readonly transfers: number;
  readonly bytes: number;
  /** Time spent in putting, fetching, and lying in between, ms. */
  readonly txMs: number;
  readonly rxMs: number;
  readonly inFlightMs: number;
};

/**
 * Moves payloads between stages. It is transport only: what a chunk is and when it is sent is the adapter's affair.
 * A connector between processes delivers later; one within a process at once.
 */
export type Connector = {
  readonly name: string;
  put(edge: Edge, requestId: string, key: string, payload: StageChunk, sizeBytes: number): TransferMetadata;
  /** Fetches a payload once; `null` where it is gone (its request was aborted). */
  get(edge: Edge, metadata: TransferMetadata, deliver: (payload: StageChunk | null) => void): void;
  /** Drops what was put for a request and not fetched. */
  cleanup(requestId: string): void;
  /** Payloads put and not fetched. */
  inFlight(): number;
  stats(): TransferStats[];
};
