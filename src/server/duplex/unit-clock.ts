/** The model's first unit closes a little later than the others follow each other, ms of input. */
const firstUnitExtraMs = 30;

/** Where the input stands: its length, and the ends of the model's units in it. Exact in samples of any rate. */
export class UnitClock {
  readonly #periodMs: number;
  /** ms of input before the sounds of the present rate. */
  #baseMs = 0;
  #samples = 0;
  #rateHz = 16000;
  #units = 0;

  constructor(periodMs: number) {
    this.#periodMs = periodMs;
  }

  /** Input so far, ms. */
  get mediaMs(): number {
    return this.#baseMs + (this.#samples * 1000) / this.#rateHz;
  }

  /** How many units have closed. */
  get units(): number {
    return this.#units;
  }

  /** @returns where in the input units close within this sound, ms */
  advance(samples: number, rateHz: number): number[] {
    if (rateHz !== this.#rateHz) {
      this.#baseMs = this.mediaMs;
      this.#samples = 0;
      this.#rateHz = rateHz;
    }
    this.#samples += samples;
    const closed: number[] = [];
    for (let next = this.#nextMs(); next <= this.mediaMs; next = this.#nextMs()) {
      this.#units += 1;
      closed.push(next);
    }
    return closed;
  }

  #nextMs(): number {
    return (this.#units + 1) * this.#periodMs + firstUnitExtraMs;
  }
}
