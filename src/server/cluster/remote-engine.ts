import type {
  EngineStats,
  StageEngine,
  StageListener,
  StageRequest,
  StageSequence,
} from '../engine/stage-engine.ts';
import type { Edge, TransferMetadata } from '../pipeline/transfer-metadata.ts';
import type { ToHead, ToWorker } from './control-messages.ts';

/** Tells the account of transfers that a payload arrived. */
export type ReceivedTransfer = {
  readonly edge: Edge;
  readonly metadata: TransferMetadata;
  readonly fromReplica: number | null;
  readonly rxMs: number;
  readonly inFlightMs: number;
};

export type RemoteEngineOptions = {
  readonly kind: StageEngine['kind'];
  readonly send: (message: ToWorker) => void;
  readonly nowMs: () => number;
  readonly onReceived: (transfer: ReceivedTransfer) => void;
  /** The pool has dropped it. */
  readonly onClosed: () => void;
};

type Transfer = {
  readonly edge: Edge;
  readonly metadata: TransferMetadata;
  readonly fromReplica: number | null;
};

/** A request that an engine in another process works on. */
class RemoteSequence implements StageSequence {
  readonly listener: StageListener;
  readonly #id: number;
  readonly #engine: RemoteEngine;
  readonly #underWay = new Map<string, Transfer>();
  /** Waits for the first output of the stage before it. */
  waitsForChunk: boolean;
  /** Has given all it gives; input that is still on its way is accounted for until the request ends. */
  finished = false;

  constructor(id: number, engine: RemoteEngine, request: StageRequest, listener: StageListener) {
    this.#id = id;
    this.#engine = engine;
    this.listener = listener;
    this.waitsForChunk = request.hasUpstream;
  }

  feed(): void {
    throw new Error('An engine in another process fetches its input itself.');
  }

  fetch(edge: Edge, metadata: TransferMetadata, fromReplica: number | null): void {
    this.waitsForChunk = false;
    this.#underWay.set(metadata.key, { edge, metadata, fromReplica });
    this.#engine.send({ type: 'fetch', sequence: this.#id, edge, metadata });
  }

  received(key: string): Transfer | null {
    const transfer = this.#underWay.get(key);
    this.#underWay.delete(key);
    return transfer ?? null;
  }

  abort(): void {
    if (this.#engine.forget(this.#id)) this.#engine.send({ type: 'abort', sequence: this.#id });
  }
}

/** A replica of a stage in another process, as the pool of that stage sees it. */
export class RemoteEngine implements StageEngine {
  readonly kind: StageEngine['kind'];
  readonly #options: RemoteEngineOptions;
  readonly #sequences = new Map<number, RemoteSequence>();
  #nextId = 0;
  #waiting = 0;
  #kvCacheUsage: number | null = null;
  #alive = true;
  #tellDeath: ((reason: string) => void) | null = null;

  constructor(options: RemoteEngineOptions) {
    this.#options = options;
    this.kind = options.kind;
  }

  submit(request: StageRequest, listener: StageListener): StageSequence {
    const id = this.#nextId;
    this.#nextId += 1;
    const sequence = new RemoteSequence(id, this, request, listener);
    this.#sequences.set(id, sequence);
    this.send({ type: 'submit', sequence: id, request });
    return sequence;
  }

  send(message: ToWorker): void {
    if (this.#alive) this.#options.send(message);
  }

  /** @returns whether it was known */
  forget(id: number): boolean {
    return this.#sequences.delete(id);
  }

  /** What the worker says; of requests that were aborted meanwhile nobody wants to hear. */
  told(message: Exclude<ToHead, { type: 'bye' }>): void {
    const sequence = this.#sequences.get(message.sequence);
    if (sequence === undefined) return;
    const { listener } = sequence;
    const nowMs = this.#options.nowMs();
    switch (message.type) {
      case 'output': {
        const { output } = message;
        if (output.finishReason !== null) sequence.finished = true;
        listener.onOutput(output, nowMs);
        return;
      }
      case 'progress':
        listener.onProgress(message.progress);
        return;
      case 'failure':
        sequence.finished = true;
        listener.onFailure(message.failure);
        return;
      case 'received': {
        const transfer = sequence.received(message.key);
        const { rxMs, inFlightMs } = message;
        if (transfer !== null) this.#options.onReceived({ ...transfer, rxMs, inFlightMs });
      }
    }
  }

  /** What its process last said of its seats and its cache. */
  heard({ waiting, kvCacheUsage }: EngineStats): void {
    this.#waiting = waiting;
    this.#kvCacheUsage = kvCacheUsage ?? null;
  }

  /** Its process is gone: whoever is bound to it is told. */
  die(reason: string): void {
    if (!this.#alive) return;
    this.#alive = false;
    this.#tellDeath?.(reason);
  }

  stats(): EngineStats {
    let waitingForChunk = 0;
    let fed = 0;
    for (const { finished, waitsForChunk } of this.#sequences.values()) {
      if (finished) continue;
      if (waitsForChunk) waitingForChunk += 1;
      else fed += 1;
    }
    const waiting = Math.min(this.#waiting, fed);
    const cache = this.#kvCacheUsage === null ? {} : { kvCacheUsage: this.#kvCacheUsage };
    return { running: fed - waiting, waiting, waitingForChunk, ...cache };
  }

  isAlive(): boolean {
    return this.#alive;
  }

  onDeath(tell: (reason: string) => void): void {
    this.#tellDeath = tell;
  }

  close(): void {
    this.#alive = false;
    this.#sequences.clear();
    this.#options.onClosed();
  }
}
