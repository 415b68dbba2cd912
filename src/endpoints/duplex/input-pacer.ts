import type { InputChunk } from './input-chunks.ts';
import type { SessionCore } from './session-core.ts';

/** How late the input left, ms; `null` = nothing did. */
export type PacingFacts = {
  readonly chunks: number;
  readonly meanLagMs: number | null;
  readonly maxLagMs: number | null;
};

/**
 * Sends chunks of sound in real time. Deadlines are absolute, so that what one chunk is late is not added to the next;
 * how late each left is kept.
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
    if (this.#chunks === 0) return { chunks: 0, meanLagMs: null, maxLagMs: null };
    return { chunks: this.#chunks, meanLagMs: this.#lagSumMs / this.#chunks, maxLagMs: this.#maxLagMs };
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
    return this.#send(chunks, limitS, { append, isDone, leadMs: () => 0 });
  }

  /** As {@link send}, each chunk when it is over: speech is sent when it has been said. */
  async sendSaid(
    chunks: Iterable<InputChunk>,
    limitS: number,
    append: (chunk: InputChunk) => void,
  ): Promise<boolean> {
    return this.#send(chunks, limitS, { append, isDone: undefined, leadMs: (chunk) => chunk.durationMs });
  }

  /** @param how.leadMs what of a chunk lies before it leaves */
  async #send(
    chunks: Iterable<InputChunk>,
    limitS: number,
    how: {
      readonly append: (chunk: InputChunk) => void;
      readonly isDone: (() => boolean) | undefined;
      readonly leadMs: (chunk: InputChunk) => number;
    },
  ): Promise<boolean> {
    const core = this.#core;
    const startMs = core.nowMs;
    this.#startMs = startMs;
    for (const chunk of chunks) {
      const dueMs = startMs + chunk.start / this.#bytesPerMs + how.leadMs(chunk);
      if (core.nowMs < dueMs) await core.connection.until(dueMs);
      if (!(await core.connection.drained(startMs + limitS * 1000))) return false;
      const lagMs = Math.max(0, core.nowMs - dueMs);
      how.append(chunk);
      this.#chunks += 1;
      this.#lagSumMs += lagMs;
      this.#maxLagMs = Math.max(this.#maxLagMs, lagMs);
      core.acknowledge(core.nowMs);
      if (await core.connection.until(startMs + chunk.endMs, how.isDone)) break;
    }
    return true;
  }
}
