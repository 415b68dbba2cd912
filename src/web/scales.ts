/** Maps values to pixels. */
export type Scale = {
  readonly kind: 'linear' | 'log';
  at(value: number): number;
  /** The value at a pixel. */
  from(pixel: number): number;
  readonly ticks: readonly number[];
};

/** A linear scale whose ticks are round: steps of 1, 2 or 5 times a power of ten. */
export function linearScale(
  [low, high]: readonly [number, number],
  [start, end]: readonly [number, number],
  count = 5,
): Scale {
  const span = high - low || 1;
  return {
    kind: 'linear',
    at: (value) => start + ((value - low) / span) * (end - start),
    from: (pixel) => low + ((pixel - start) / (end - start || 1)) * span,
    ticks: roundTicks(low, low + span, count),
  };
}

/** The same for things that are counted: no ticks between whole numbers. */
export function countScale(
  [low, high]: readonly [number, number],
  range: readonly [number, number],
  count = 5,
): Scale {
  const scale = linearScale([low, high], range, count);
  return { ...scale, ticks: scale.ticks.filter(Number.isInteger) };
}

/** A logarithmic scale; both ends > 0. */
export function logScale(
  [low, high]: readonly [number, number],
  [start, end]: readonly [number, number],
): Scale {
  const from = Math.log10(low);
  const span = Math.log10(high) - from || 1;
  return {
    kind: 'log',
    at: (value) => start + ((Math.log10(Math.max(value, low)) - from) / span) * (end - start),
    from: (pixel) => 10 ** (from + ((pixel - start) / (end - start || 1)) * span),
    ticks: logTicks(low, high),
  };
}

/** Round values from `low` to `high`, about `count` of them. */
export function roundTicks(low: number, high: number, count: number): number[] {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return [low];
  const rough = span / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10) * power;
  const ticks: number[] = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i += 1)
    ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

function logTicks(low: number, high: number): number[] {
  const powers: number[] = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high * 1.0001; power += 1)
    powers.push(10 ** power);
  const within = (factors: readonly number[]): number[] =>
    powers
      .flatMap((power) => factors.map((factor) => Number((factor * power).toPrecision(12))))
      .filter((tick) => tick >= low * 0.9999 && tick <= high * 1.0001);
  const decades = within([1]);
  if (decades.length >= 3) return decades.filter((_, i) => i % Math.ceil(decades.length / 6) === 0);
  const finer = within([1, 2, 5]);
  return finer.length >= 2 ? finer : roundTicks(low, high, 4).filter((tick) => tick > 0);
}

/** A round number at or above the value, for the top of an axis. */
export function roundTop(value: number, count = 4): number {
  if (!(value > 0)) return 1;
  const step = (roundTicks(0, value, count)[1] ?? value) || value;
  return Math.ceil(value / step - 1e-9) * step;
}
