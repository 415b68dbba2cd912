const stateWords = 624;
const shiftWords = 397;

/**
 * MT19937, seeded as CPython seeds `random.Random(n)` for whole numbers, so that samples drawn by programs in Python
 * can be drawn again. Draws of our own take `randomStream`.
 */
export class MersenneTwister {
  readonly #state = new Uint32Array(stateWords);
  #at = stateWords;

  /** @param seed any whole number; its sign has no effect, as in CPython */
  constructor(seed: number) {
    this.#initByArray(littleEndianWords(seed));
  }

  /** The next 32 bits. */
  next32(): number {
    if (this.#at === stateWords) this.#twist();
    let y = this.#state[this.#at] ?? 0;
    this.#at += 1;
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  }

  /** Uniform in [0, limit), as CPython's `randbelow` draws it; `limit` is a whole number from 1 to 2^31. */
  below(limit: number): number {
    const bits = 32 - Math.clz32(limit);
    let drawn = this.next32() >>> (32 - bits);
    while (drawn >= limit) drawn = this.next32() >>> (32 - bits);
    return drawn;
  }

  /** The items in the order of CPython's `shuffle`, as a new array. */
  shuffled<T>(items: readonly T[]): T[] {
    const result = [...items];
    for (let i = result.length - 1; i > 0; i -= 1) {
      const j = this.below(i + 1);
      const held = result[i] as T;
      result[i] = result[j] as T;
      result[j] = held;
    }
    return result;
  }

  #initGenrand(seed: number): void {
    const state = this.#state;
    state[0] = seed;
    for (let i = 1; i < stateWords; i += 1) {
      const before = state[i - 1] ?? 0;
      state[i] = Math.imul(1812433253, before ^ (before >>> 30)) + i;
    }
  }

  #initByArray(key: readonly number[]): void {
    const state = this.#state;
    this.#initGenrand(19650218);
    let i = 1;
    let j = 0;
    for (let k = Math.max(stateWords, key.length); k > 0; k -= 1) {
      state[i] = ((state[i] ?? 0) ^ this.#mixed(i, 1664525)) + (key[j] ?? 0) + j;
      i = this.#following(i);
      j = (j + 1) % key.length;
    }
    for (let k = stateWords - 1; k > 0; k -= 1) {
      state[i] = ((state[i] ?? 0) ^ this.#mixed(i, 1566083941)) - i;
      i = this.#following(i);
    }
    state[0] = 0x80000000;
  }

  #mixed(i: number, factor: number): number {
    const before = this.#state[i - 1] ?? 0;
    return Math.imul(before ^ (before >>> 30), factor);
  }

  /** The next place from 1 on; past the end the last word moves to the front. */
  #following(i: number): number {
    if (i + 1 < stateWords) return i + 1;
    this.#state[0] = this.#state[stateWords - 1] ?? 0;
    return 1;
  }

  #twist(): void {
    const state = this.#state;
    for (let i = 0; i < stateWords; i += 1) {
      const y = ((state[i] ?? 0) & 0x80000000) | ((state[(i + 1) % stateWords] ?? 0) & 0x7fffffff);
      const odd = y & 1 ? 0x9908b0df : 0;
      state[i] = (state[(i + shiftWords) % stateWords] ?? 0) ^ (y >>> 1) ^ odd;
    }
    this.#at = 0;
  }
}

function littleEndianWords(seed: number): number[] {
  const words: number[] = [];
  for (let rest = BigInt(Math.trunc(Math.abs(seed))); rest > 0n; rest >>= 32n)
    words.push(Number(rest & 0xffffffffn));
  return words.length > 0 ? words : [0];
}
