/** At most this many steps, so that a run of days does not fill the memory. */
const mostSteps = 2 ** 23;

/**
 * The most tokens that arrived within any one second. Messages weigh what tokens they brought, and the second may
 * begin at any step: a millisecond, or more in runs above two hours.
 */
export class ExactTokenPeak {
  readonly #startMs: number;
  readonly #stepMs: number;
  readonly #tokens: Float64Array;

  /** @param startMs, @param endMs no token came outside of them */
  constructor(startMs: number, endMs: number) {
    this.#startMs = startMs;
    this.#stepMs = Math.max(1, Math.ceil((endMs - startMs) / mostSteps));
    this.#tokens = new Float64Array(Math.floor((endMs - startMs) / this.#stepMs) + 1);
  }

  add(timeMs: number, tokens: number): void {
    const step = Math.floor((timeMs - this.#startMs) / this.#stepMs);
    const before = this.#tokens[step];
    if (before !== undefined) this.#tokens[step] = before + tokens;
  }

  /** 0 where no token came. */
  peak(): number {
    const steps = Math.max(1, Math.round(1000 / this.#stepMs));
    let within = 0;
    let peak = 0;
    for (let i = 0; i < this.#tokens.length; i += 1) {
      within += this.#tokens[i] ?? 0;
      if (i >= steps) within -= this.#tokens[i - steps] ?? 0;
      if (within > peak) peak = within;
    }
    return peak;
  }
}
