/** Up to this length, in UTF-16 units, a native call costs more than writing ASCII by hand. */
const byHandLength = 64;
/** Most bytes of UTF-8 that one UTF-16 unit becomes. */
const maxUnitBytes = 3;
const firstCapacityBytes = 256;

/**
 * The text of a reply as it grows, in UTF-8. Not an array of strings: with hundreds of streams open, each of the
 * thousands of small strings would be copied by every garbage collection until its reply ends.
 */
export class ReplyText {
  #bytes = Buffer.allocUnsafe(firstCapacityBytes);
  #length = 0;
  /** First half of a surrogate pair that servers split across messages; empty = none. */
  #half = '';

  /** @returns bytes of UTF-8 that the text takes */
  append(text: string): number {
    const units = text.length;
    const at = this.#length;
    if (at + units * maxUnitBytes > this.#bytes.length) this.#grow(units * maxUnitBytes);
    if (units > byHandLength || this.#half !== '') return this.#appendWide(text);
    const bytes = this.#bytes;
    for (let i = 0; i < units; i += 1) {
      const unit = text.charCodeAt(i);
      if (unit > 127) return this.#appendWide(text);
      bytes[at + i] = unit;
    }
    this.#length = at + units;
    return units;
  }

  toString(): string {
    return this.#bytes.toString('utf8', 0, this.#length) + this.#half;
  }

  #appendWide(text: string): number {
    let whole = this.#half + text;
    const last = whole.charCodeAt(whole.length - 1);
    this.#half = last >= 0xd800 && last <= 0xdbff ? whole.slice(-1) : '';
    if (this.#half !== '') whole = whole.slice(0, -1);
    if (this.#length + whole.length * maxUnitBytes > this.#bytes.length)
      this.#grow(whole.length * maxUnitBytes);
    const written = this.#bytes.write(whole, this.#length, 'utf8');
    this.#length += written;
    return written;
  }

  #grow(moreBytes: number): void {
    const grown = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + moreBytes));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
