import { messageOf } from '../../foundation/errors.ts';
import type { EngineStats, StageEngine, StageRequest, StageSequence } from '../engine/stage-engine.ts';
import { type Connector, goneMessage } from '../pipeline/connector.ts';
import type { Edge, TransferMetadata } from '../pipeline/transfer-metadata.ts';
import type { ClockOffset } from './clock-offset.ts';
import type { ToHead, ToWorker } from './control-messages.ts';

export type HostedEngineOptions = {
  readonly engine: StageEngine;
  readonly connector: Connector;
  readonly inputEdges: readonly Edge[];
  /** How far the head's clock is ahead of this process's. */
  readonly offset: ClockOffset;
  readonly send: (message: ToHead) => void;
};

/**
 * An engine of this process that works for a head in another: times cross over on the head's clock. A request is known
 * until the head aborts it, which it does at its end too.
 */
export class HostedEngine {
  readonly #options: HostedEngineOptions;
  readonly #sequences = new Map<number, { readonly requestId: string; readonly sequence: StageSequence }>();

  constructor(options: HostedEngineOptions) {
    this.#options = options;
  }

  told(message: Exclude<ToWorker, { type: 'leave' }>): void {
    switch (message.type) {
      case 'submit':
        this.#submit(message.sequence, message.request);
        return;
      case 'fetch':
        this.#fetch(message.sequence, message.edge, message.metadata);
        return;
      case 'abort':
        this.#abort(message.sequence);
    }
  }

  stats(): EngineStats {
    return this.#options.engine.stats();
  }

  /** Stops everything that the head has not let go, untold. */
  abortAll(): void {
    for (const id of [...this.#sequences.keys()]) this.#abort(id);
  }

  #submit(id: number, request: StageRequest): void {
    const { engine, offset, send } = this.#options;
    try {
      const sequence = engine.submit(
        { ...request, acceptedMs: request.acceptedMs - offset.ms },
        {
          onOutput: (output) => {
            const { dueMs, nextDueMs } = output;
            const next = nextDueMs === undefined ? {} : { nextDueMs: nextDueMs + offset.ms };
            send({ type: 'output', sequence: id, output: { ...output, dueMs: dueMs + offset.ms, ...next } });
          },
          onProgress: (progress) => send({ type: 'progress', sequence: id, progress }),
          onFailure: (failure) => this.#fail(id, failure.message, failure.status),
        },
      );
      this.#sequences.set(id, { requestId: request.id, sequence });
    } catch (error) {
      this.#fail(id, messageOf(error), 500);
    }
  }

  #fetch(id: number, given: Edge, metadata: TransferMetadata): void {
    const { connector, offset, send, inputEdges } = this.#options;
    // A connector tells edges apart by the objects that it was made with.
    const edge = inputEdges.find(({ from, to }) => from === given.from && to === given.to) ?? given;
    connector.get(edge, metadata, (delivery) => {
      const held = this.#sequences.get(id);
      if (held === undefined) return;
      if (delivery.kind !== 'payload') {
        this.#fail(id, delivery.kind === 'gone' ? goneMessage : delivery.message, 500);
        return;
      }
      const { chunk, rxMs, inFlightMs } = delivery;
      send({ type: 'received', sequence: id, key: metadata.key, rxMs, inFlightMs });
      try {
        held.sequence.feed({ ...chunk, readyMs: chunk.readyMs - offset.ms });
      } catch (error) {
        this.#fail(id, messageOf(error), 500);
      }
    });
  }

  #fail(id: number, message: string, status: number): void {
    this.#abort(id);
    this.#options.send({ type: 'failure', sequence: id, failure: { message, status } });
  }

  #abort(id: number): void {
    const held = this.#sequences.get(id);
    if (held === undefined) return;
    this.#sequences.delete(id);
    held.sequence.abort();
    this.#options.connector.cleanup(held.requestId);
  }
}
