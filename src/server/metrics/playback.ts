/**
 * How a player fares that starts with the first chunk of sound and never waits: the worst time by which it ran dry
 * before a chunk came.
 */
export class Playback {
  #startMs: number | null = null;
  #playableMs = 0;
  #underrunMs = 0;

  /** @param durationMs length of the sound in the chunk */
  chunk(arrivedMs: number, durationMs: number): void {
    if (this.#startMs === null) this.#startMs = arrivedMs;
    else this.#underrunMs = Math.max(this.#underrunMs, arrivedMs - this.#startMs - this.#playableMs);
    this.#playableMs += durationMs;
  }

  get underrunMs(): number {
    return this.#underrunMs;
  }

  /** Length of the sound so far, ms. */
  get durationMs(): number {
    return this.#playableMs;
  }

  get started(): boolean {
    return this.#startMs !== null;
  }
}
