/**
 * The reference's peaks: tokens and requests counted in whole seconds from the first start. A request counts in every
 * second it touches, both ends included, so that requests one after the other at concurrency 1 show a peak of 2.
 */
export class SecondBuckets {
  readonly #startMs: number;
  readonly #tokens: Float64Array;
  /** Rises and falls of the number of requests; its running sum is the number in each second. */
  readonly #steps: Float64Array;

  /** @param startMs first start, @param endMs last end of the successful requests */
  constructor(startMs: number, endMs: number) {
    this.#startMs = startMs;
    const count = Math.ceil((endMs - startMs) / 1000) + 1;
    this.#tokens = new Float64Array(count);
    this.#steps = new Float64Array(count + 1);
  }

  addRequest(startMs: number, endMs: number): void {
    const first = this.#secondOf(startMs);
    const last = this.#secondOf(endMs);
    this.#steps[first] = (this.#steps[first] ?? 0) + 1;
    this.#steps[last + 1] = (this.#steps[last + 1] ?? 0) - 1;
  }

  /** Counts the first token at its time and each later one after its gap; what lies outside the run is left out. */
  addTokens(firstMs: number, gapsMs: Float64Array): void {
    let timeMs = firstMs;
    this.#countToken(timeMs);
    for (let i = 0; i < gapsMs.length; i += 1) {
      timeMs += gapsMs[i] ?? 0;
      this.#countToken(timeMs);
    }
  }

  peakTokens(): number {
    let peak = 0;
    for (const tokens of this.#tokens) peak = Math.max(peak, tokens);
    return peak;
  }

  peakRequests(): number {
    let peak = 0;
    let open = 0;
    for (const step of this.#steps) {
      open += step;
      peak = Math.max(peak, open);
    }
    return peak;
  }

  #countToken(timeMs: number): void {
    const second = this.#secondOf(timeMs);
    const before = this.#tokens[second];
    if (before !== undefined) this.#tokens[second] = before + 1;
  }

  #secondOf(timeMs: number): number {
    return Math.floor((timeMs - this.#startMs) / 1000);
  }
}
