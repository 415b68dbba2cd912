import type { StageChunk } from '../engine/stage-engine.ts';
import type { Edge, TransferMetadata } from './transfer-metadata.ts';

/** What a consumer gets. */
export type Delivery =
  | {
      readonly kind: 'payload';
      readonly chunk: StageChunk;
      /** Time that fetching and checking it took, and that it lay in between, ms. */
      readonly rxMs: number;
      readonly inFlightMs: number;
    }
  /** It was dropped before it was fetched: its request was aborted, or something went wrong. */
  | { readonly kind: 'gone' }
  /** It could not be fetched, or is not what was put. */
  | { readonly kind: 'failed'; readonly message: string };

/** Of a payload that is gone although its request is under way. */
export const goneMessage = 'a payload was gone before it was fetched.';

/** How a connector is. */
export type ConnectorHealth = {
  readonly status: 'up' | 'down';
  /** Payloads put and not fetched, and what they take up, bytes; 0 where they are handed over by reference. */
  readonly payloads: number;
  readonly heldBytes: number;
};

/**
 * Moves payloads between stages. It is transport only: what a chunk is and when it is sent is the adapter's affair.
 * The process of the producer puts, that of the consumer gets, each with a connector of its own; within a process
 * both are one. Payloads of a request are delivered in the order in which they are asked for.
 */
export type Connector = {
  readonly name: string;
  /** @throws Error where there is no room, or no connection */
  put(edge: Edge, requestId: string, key: string, chunk: StageChunk, sizeBytes: number): TransferMetadata;
  /** Fetches a payload once; a connector within a process delivers before it returns, others later. */
  get(edge: Edge, metadata: TransferMetadata, deliver: (delivery: Delivery) => void): void;
  /** Drops what was put for a request and not fetched. */
  cleanup(requestId: string): void;
  /** Payloads put here and not fetched. */
  inFlight(): number;
  health(): ConnectorHealth;
  /** Frees what it holds; harmless when repeated. */
  close(): void;
};
