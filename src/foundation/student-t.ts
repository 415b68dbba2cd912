import { normalQuantile } from './normal-distribution.ts';

/** Logarithm of the gamma function for x > 0 (Lanczos, g = 7, nine terms). */
function logGamma(x: number): number {
  const coefficients = [
    0.9999999999998099, 676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406,
    12.507343278686905, -0.13857109526572012, 9.984369578019572e-6, 1.5056327351493116e-7,
  ];
  const t = x + 6.5;
  const sum = coefficients.reduce((total, c, k) => total + (k === 0 ? c : c / (x - 1 + k)), 0);
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

/** Regularised incomplete beta function by Lentz's continued fraction. */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const tiny = 1e-300;
  const away = (value: number): number => (Math.abs(value) < tiny ? tiny : value);
  let c = 1;
  let d = 1 / away(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m < 500; m += 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away(1 + even * d);
    c = away(1 + even / c);
    fraction *= c * d;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away(1 + odd * d);
    c = away(1 + odd / c);
    const step = c * d;
    fraction *= step;
    if (Math.abs(step - 1) < 1e-15) break;
  }
  const front = logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x);
  return (Math.exp(front) * fraction) / a;
}

/** Probability that Student's t with `df` degrees of freedom is above `t` ≥ 0. */
export function studentUpperTail(t: number, df: number): number {
  return 0.5 * incompleteBeta(df / (df + t * t), df / 2, 0.5);
}

/**
 * The t ≥ 0 that Student's distribution exceeds with probability `upper`.
 * @param upper 0 < upper ≤ 0.5
 * @param df > 0, need not be whole; Infinity is the normal distribution
 */
export function studentUpperQuantile(upper: number, df: number): number {
  if (df > 1e7) return -normalQuantile(upper);
  let low = 0;
  let high = 2;
  while (studentUpperTail(high, df) > upper && high < 1e12) high *= 2;
  for (let i = 0; i < 200 && high - low > 1e-13 * high; i += 1) {
    const middle = (low + high) / 2;
    if (studentUpperTail(middle, df) > upper) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
