import { SampleColumn } from './sample-column.ts';
import type { TokenArrivals } from './token-arrivals.ts';

/** Tokens that one entry can carry beside its time in the 53 bits of a number: 2^41 µs are 25 days. */
const tokensPerEntry = 2 ** 12 - 1;
const shift = 2 ** 12;

/**
 * The most tokens that arrived within any one second, to the microsecond: messages weigh what tokens they brought,
 * and the second may begin at any of them. Time and weight are packed into one number, so that a native sort orders
 * ten million messages in about a second.
 */
export class ExactTokenPeak {
  readonly #originMs: number;
  readonly #packed = new SampleColumn();

  /** @param originMs no token came before it */
  constructor(originMs: number) {
    this.#originMs = originMs;
  }

  add({ timesMs, tokens }: TokenArrivals): void {
    for (let i = 0; i < timesMs.length; i += 1) {
      const timeUs = Math.max(Math.round(((timesMs[i] ?? 0) - this.#originMs) * 1000), 0);
      let left = tokens[i] ?? 0;
      for (; left > tokensPerEntry; left -= tokensPerEntry)
        this.#packed.push(timeUs * shift + tokensPerEntry);
      this.#packed.push(timeUs * shift + left);
    }
  }

  /** 0 where no token came. */
  peak(): number {
    const sorted = this.#packed.values().sort();
    const timeUs = (index: number): number => Math.floor((sorted[index] ?? 0) / shift);
    const tokens = (index: number): number => (sorted[index] ?? 0) % shift;
    let peak = 0;
    let within = 0;
    let oldest = 0;
    for (let i = 0; i < sorted.length; i += 1) {
      within += tokens(i);
      for (const nowUs = timeUs(i); nowUs - timeUs(oldest) >= 1e6; oldest += 1) within -= tokens(oldest);
      peak = Math.max(peak, within);
    }
    return peak;
  }
}
