import type { StageChunk, StageOutput } from '../engine/stage-engine.ts';

/** How much upstream output makes a chunk. */
export type ChunkRule =
  /** One chunk per output of the producer. */
  | { readonly kind: 'each' }
  /** So many units at a time, fewer in the first chunk, the rest at the end. */
  | { readonly kind: 'units'; readonly units: number; readonly initial: number }
  /** The whole output at once, when the producer has finished. */
  | { readonly kind: 'whole' };

/** Cuts the output of one stage for one request into the chunks that the next stage takes. */
export class ChunkAdapter {
  readonly #rule: ChunkRule;
  #units = 0;
  #chunks = 0;

  constructor(rule: ChunkRule) {
    this.#rule = rule;
  }

  /** Chunks cut so far; the id of the next one. */
  get chunkCount(): number {
    return this.#chunks;
  }

  /** @returns the chunk that this output completes, or `null` while more is needed */
  push(output: StageOutput): StageChunk | null {
    this.#units += output.units;
    const final = output.finishReason !== null;
    if (!final && this.#units < this.#neededUnits()) return null;
    const chunk = { readyMs: output.dueMs, units: this.#units, producerStepMs: output.stepMs, final };
    this.#units = 0;
    this.#chunks += 1;
    return chunk;
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
