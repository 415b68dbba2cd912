import type { InputChunk } from './input-chunks.ts';
import type { SessionCore } from './session-core.ts';

/** How late the input left. */
export type PacingFacts = {
  readonly chunks: number;
  readonly meanLagMs: number;
  readonly maxLagMs: number;
};

/**
 * Sends chunks of sound when they would have been recorded. Deadlines are absolute, so that what one chunk is late is
 * not added to the next; how late each left is kept.
 */
export class InputPacer {
  readonly #core: SessionCore;
  readonly #bytesPerMs: number;
  #startMs: number | null = null;
  #chunks = 0;
  #lagSumMs = 0;
  #maxLagMs = 0;

  constructor(core: SessionCore, sampleRateHz: number) {
    this.#core = core;
    this.#bytesPerMs = (sampleRateHz * 2) / 1000;
  }

  /** Just before the first chunk, ms on the run's clock; `null` = nothing was sent. */
  get startMs(): number | null {
    return this.#startMs;
  }

  facts(): PacingFacts {
    const meanLagMs = this.#chunks === 0 ? 0 : this.#lagSumMs / this.#chunks;
    return { chunks: this.#chunks, meanLagMs, maxLagMs: this.#maxLagMs };
  }

  /**
   * Sends all chunks, acknowledging playback meanwhile.
   * @param isDone ends it early; asked after each chunk and each event
   * @returns false where the limit passed with input that the network had not taken
   * @throws SessionFault
   */
  async send(
    chunks: Iterable<InputChunk>,
    limitS: number,
    append: (chunk: InputChunk) => void,
    isDone?: () => boolean,
  ): Promise<boolean> {
    const core = this.#core;
    const startMs = core.nowMs;
    this.#startMs = startMs;
    for (const chunk of chunks) {
      if (!(await core.connection.drained(startMs + limitS * 1000))) return false;
      const lagMs = Math.max(0, core.nowMs - startMs - chunk.start / this.#bytesPerMs);
      append(chunk);
      this.#chunks += 1;
      this.#lagSumMs += lagMs;
      this.#maxLagMs = Math.max(this.#maxLagMs, lagMs);
      core.acknowledge(core.nowMs);
      if (await core.connection.until(startMs + chunk.endMs, isDone)) break;
    }
    return true;
  }
}
