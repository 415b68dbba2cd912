/** A growing column of numbers that are not boxed: millions of samples at 8 bytes each. */
export class SampleColumn {
  #values = new Float64Array(256);
  #length = 0;

  push(value: number): void {
    this.#reserve(1);
    this.#values[this.#length] = value;
    this.#length += 1;
  }

  pushAll(values: ArrayLike<number>): void {
    this.#reserve(values.length);
    this.#values.set(values, this.#length);
    this.#length += values.length;
  }

  /** The samples in order of arrival; a view that the next push may detach from the column. */
  values(): Float64Array {
    return this.#values.subarray(0, this.#length);
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#values.length) return;
    const grown = new Float64Array(Math.max(needed, Math.ceil(this.#values.length * 1.5)));
    grown.set(this.#values);
    this.#values = grown;
  }
}
