import type { KvTransferParams, StageChunk, StageOutput } from '../engine/stage-engine.ts';

/** How much upstream output makes a chunk. */
export type ChunkRule =
  /** One chunk per output of the producer. */
  | { readonly kind: 'each' }
  /** So many units at a time, fewer in the first chunk, the rest at the end. */
  | { readonly kind: 'units'; readonly units: number; readonly initial: number }
  /** The whole output at once, when the producer has finished or its KV cache is ready before. */
  | { readonly kind: 'whole' };

/** Cuts the output of one stage for one request into the chunks that the next stage takes. */
export class ChunkAdapter {
  readonly #rule: ChunkRule;
  readonly #requestId: string;
  #units = 0;
  #chunks = 0;
  #closed = false;

  constructor(rule: ChunkRule, requestId: string) {
    this.#rule = rule;
    this.#requestId = requestId;
  }

  /** Chunks cut so far; the id of the next one. */
  get chunkCount(): number {
    return this.#chunks;
  }

  /** @returns the chunk that this output completes, or `null` while more is needed */
  push(output: StageOutput): StageChunk | null {
    if (this.#closed) return null;
    this.#units += output.units;
    const early = this.#rule.kind === 'whole' && output.kv !== null;
    const final = output.finishReason !== null || early;
    if (!final && (this.#units < this.#neededUnits() || output.units === 0)) return null;
    this.#closed = final;
    const chunk = {
      readyMs: output.dueMs,
      units: this.#units,
      producerStepMs: output.stepMs,
      kv: this.#kvOf(output),
      final,
    };
    this.#units = 0;
    this.#chunks += 1;
    return chunk;
  }

  #kvOf({ kv }: StageOutput): KvTransferParams | null {
    if (kv === null) return null;
    return {
      transferId: `xfer-${this.#requestId}`,
      remoteEngineId: kv.engineId,
      remoteRequestId: kv.requestId,
    };
  }

  #neededUnits(): number {
    switch (this.#rule.kind) {
      case 'each':
        return 0;
      case 'units':
        return this.#chunks === 0 ? this.#rule.initial : this.#rule.units;
      case 'whole':
        return Number.POSITIVE_INFINITY;
    }
  }
}
