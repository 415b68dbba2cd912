import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/**
 * A seeded source of uniform numbers. Streams for different purposes come from {@link randomStream}, so that
 * drawing more of one (a longer dataset) never shifts another (the arrivals).
 */
export type Random = {
  /** Uniform in [0, 1), 53 bits. */
  uniform(): number;
  /** Uniform whole number in [low, high], both inclusive. */
  integer(low: number, high: number): number;
};

/** FNV-1a, 32 bit: spreads a purpose's name over the seed space. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    hash ^= text.charCodeAt(i);
    hash = Math.imul(hash, 0x01000193);
  }
  return hash >>> 0;
}

/**
 * An own, independent stream per seed and purpose.
 * @param seed any whole number
 * @param purpose what the stream is for, e.g. `arrivals`
 */
export function randomStream(seed: number, purpose: string): Random {
  const generator = xoroshiro128plus((Math.imul(seed | 0, 0x9e3779b1) ^ hashText(purpose)) | 0);
  for (let i = 0; i < 16; i += 1) generator.next();
  const uniform = (): number => {
    const high = generator.next() >>> 5;
    const low = generator.next() >>> 6;
    return (high * 67108864 + low) / 9007199254740992;
  };
  return {
    uniform,
    integer: (low, high) => low + Math.floor(uniform() * (high - low + 1)),
  };
}

/** Exponential with the given mean. */
export function drawExponential(random: Random, mean: number): number {
  return -Math.log(1 - random.uniform()) * mean;
}

/** Standard normal (polar method). */
export function drawNormal(random: Random): number {
  for (;;) {
    const u = 2 * random.uniform() - 1;
    const v = 2 * random.uniform() - 1;
    const s = u * u + v * v;
    if (s > 0 && s < 1) return u * Math.sqrt((-2 * Math.log(s)) / s);
  }
}

/**
 * Gamma by Marsaglia and Tsang (2000); shapes below 1 by the boost U^(1/shape).
 * Mean = shape·scale, coefficient of variation = 1/√shape.
 */
export function drawGamma(random: Random, shape: number, scale: number): number {
  if (shape === 1) return drawExponential(random, scale);
  if (shape < 1) return drawGamma(random, shape + 1, scale) * (1 - random.uniform()) ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = drawNormal(random);
    const v = (1 + c * x) ** 3;
    if (v <= 0) continue;
    const u = 1 - random.uniform();
    if (Math.log(u) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v * scale;
  }
}

/** Fisher–Yates shuffle into a new array. */
export function shuffled<T>(random: Random, items: readonly T[]): T[] {
  const result = [...items];
  for (let i = result.length - 1; i > 0; i -= 1) {
    const j = random.integer(0, i);
    const held = result[i] as T;
    result[i] = result[j] as T;
    result[j] = held;
  }
  return result;
}
