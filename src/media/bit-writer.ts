/** Writes numbers of any width as bits, most significant first, into a buffer that grows. */
export class BitWriter {
  #bytes: Buffer;
  #length = 0;
  #held = 0;
  #heldBits = 0;

  constructor(expectedBytes = 1024) {
    this.#bytes = Buffer.allocUnsafe(expectedBytes);
  }

  /** @param width 0 to 24 bits */
  bits(value: number, width: number): void {
    this.#held = (this.#held << width) | (value & ((1 << width) - 1));
    this.#heldBits += width;
    while (this.#heldBits >= 8) {
      this.#heldBits -= 8;
      this.#push((this.#held >>> this.#heldBits) & 0xff);
    }
    this.#held &= (1 << this.#heldBits) - 1;
  }

  /** `zeros` bits of 0 and one of 1. */
  unary(zeros: number): void {
    let left = zeros;
    for (; left > 23; left -= 24) this.bits(0, 24);
    this.bits(1, left + 1);
  }

  /** Fills the last byte with bits of 0. */
  align(): void {
    if (this.#heldBits > 0) this.bits(0, 8 - this.#heldBits);
  }

  /** All whole bytes so far. */
  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #push(byte: number): void {
    if (this.#length === this.#bytes.length) {
      const larger = Buffer.allocUnsafe(this.#bytes.length * 2);
      this.#bytes.copy(larger);
      this.#bytes = larger;
    }
    this.#bytes[this.#length] = byte;
    this.#length += 1;
  }
}
