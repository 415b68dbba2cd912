/** Digits of a finite, non-negative number rounded half to even on its exact binary value. */
function fixedMagnitude(magnitude: number, digits: number): string {
  if (magnitude >= 1e21)
    return digits > 0 ? `${BigInt(magnitude)}.${'0'.repeat(digits)}` : `${BigInt(magnitude)}`;
  // `toFixed` rounds the exact binary value too, but sends ties up. A tie at d decimals is an odd multiple of
  // 1/2^(d+1); scaling by a power of two is exact.
  const scaled = magnitude * 2 ** (digits + 1);
  const isTie = Number.isSafeInteger(scaled) && scaled % 2 === 1;
  if (!isTie) return magnitude.toFixed(digits);
  const kept = magnitude
    .toFixed(digits + 1)
    .slice(0, -1)
    .replace(/\.$/, '');
  return Number(kept.at(-1)) % 2 === 0 ? kept : magnitude.toFixed(digits);
}

function signOf(value: number): '-' | '' {
  return value < 0 || Object.is(value, -0) ? '-' : '';
}

function nonFinite(value: number): string | null {
  if (Number.isNaN(value)) return 'nan';
  if (value === Number.POSITIVE_INFINITY) return 'inf';
  return value === Number.NEGATIVE_INFINITY ? '-inf' : null;
}

/**
 * Python's `f"{value:.{digits}f}"`: the exact binary value, ties to even (4.125 → `4.12`), `nan`, `inf`, `-0.00`.
 * @param digits decimals, 0…50
 */
export function formatFixed(value: number, digits: number): string {
  return nonFinite(value) ?? signOf(value) + fixedMagnitude(Math.abs(value), digits);
}

/** Python's `f"{value:.{digits}%}"` of a ratio: 1 → `100.00%`. */
export function formatPercent(ratio: number, digits: number): string {
  return `${formatFixed(ratio * 100, digits)}%`;
}

/** Significant digits and decimal exponent of a finite positive number, rounded half to even. */
function significant(magnitude: number, precision: number): { digits: string; exponent: number } {
  const split = (text: string): { digits: string; exponent: number } => {
    const [mantissa = '', exponent = '0'] = text.split('e');
    return { digits: mantissa.replace('.', ''), exponent: Number(exponent) };
  };
  // 100 digits are enough to tell a tie: no double comes nearer to one without being one.
  const exact = split(magnitude.toExponential(100));
  const isTie = /^50*$/.test(exact.digits.slice(precision));
  const lastIsEven = Number(exact.digits[precision - 1]) % 2 === 0;
  if (isTie && lastIsEven) return { digits: exact.digits.slice(0, precision), exponent: exact.exponent };
  return split(magnitude.toExponential(precision - 1));
}

function exponentSuffix(exponent: number): string {
  return `e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** Python's `f"{value:g}"`: six significant digits, trailing zeros dropped (900.0 → `900`, 1e7 → `1e+07`). */
export function formatGeneral(value: number, precision = 6): string {
  const special = nonFinite(value);
  if (special !== null) return special;
  if (value === 0) return `${signOf(value)}0`;
  const { digits, exponent } = significant(Math.abs(value), precision);
  const trimmed = digits.replace(/0+$/, '');
  if (exponent < -4 || exponent >= precision) {
    const mantissa = trimmed.length > 1 ? `${trimmed[0]}.${trimmed.slice(1)}` : trimmed;
    return signOf(value) + mantissa + exponentSuffix(exponent);
  }
  return signOf(value) + placePoint(trimmed, exponent);
}

/** `digits` × 10^(exponent − digits + 1) without an exponent; no point where the value is whole. */
function placePoint(digits: string, exponent: number): string {
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${digits}`;
  if (digits.length <= exponent + 1) return digits.padEnd(exponent + 1, '0');
  return `${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`;
}

/** Python's `str(float(value))`, the shortest digits that read back as the same number: `10.0`, `1e-05`, `inf`. */
export function formatFloat(value: number): string {
  const special = nonFinite(value);
  if (special !== null) return special;
  if (value === 0) return `${signOf(value)}0.0`;
  const [mantissa = '', power = '0'] = Math.abs(value).toExponential().split('e');
  const exponent = Number(power);
  if (exponent < -4 || exponent >= 16) return signOf(value) + mantissa + exponentSuffix(exponent);
  const placed = placePoint(mantissa.replace('.', ''), exponent);
  return signOf(value) + (placed.includes('.') ? placed : `${placed}.0`);
}
