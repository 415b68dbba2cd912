import { formatGeneral } from '../../foundation/python-format.ts';

export type AxisScale = 'linear' | 'log';

/** An axis of a chart: what it spans, where its ticks are, and where a value lies on it. */
export type Axis = {
  readonly ticks: readonly { readonly value: number; readonly label: string }[];
  /** 0 at the low end, 1 at the high end; an infinite value lies at the high end, beyond all ticks. */
  place(value: number): number;
};

/** How much of an axis is kept for infinity, where there is one. */
const infinityShare = 0.1;

/**
 * @param values to show; infinite ones get a place of their own, those not over 0 none on a log axis
 */
export function axisOf(values: readonly number[], scale: AxisScale): Axis {
  const finite = values.filter((value) => Number.isFinite(value) && (scale === 'linear' || value > 0));
  const infinite = values.includes(Number.POSITIVE_INFINITY);
  const reach = infinite ? 1 - infinityShare : 1;
  const low = finite.length > 0 ? Math.min(...finite) : 1;
  const high = finite.length > 0 ? Math.max(...finite) : 1;
  const axis = scale === 'log' ? logAxis(low, high) : linearAxis(low, high);
  const ticks = axis.ticks.map((value) => ({ value, label: tickLabel(value) }));
  return {
    ticks: infinite ? [...ticks, { value: Number.POSITIVE_INFINITY, label: '∞' }] : ticks,
    place: (value) => (value === Number.POSITIVE_INFINITY ? 1 : axis.place(value) * reach),
  };
}

type Plain = { readonly ticks: readonly number[]; place(value: number): number };

/** From 0 where that is near, with some room, and five or so round ticks. */
function linearAxis(low: number, high: number): Plain {
  const span = high - low || Math.abs(high) || 1;
  const from = low >= 0 && low < 0.6 * high ? 0 : low - 0.06 * span;
  const to = high + 0.06 * span;
  const rough = (to - from) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const ticks: number[] = [];
  // Added 0: a first tick of −0 is 0.
  for (let i = Math.ceil(from / step - 1e-9) + 0; i * step <= to + 1e-9 * step; i += 1) ticks.push(i * step);
  return { ticks, place: (value) => (value - from) / (to - from) };
}

/** Over whole decades where there are two or more, else over 1, 2 and 5 of each. */
function logAxis(low: number, high: number): Plain {
  const room = (Math.log10(high) - Math.log10(low) || 1) * 0.06;
  const from = Math.log10(low) - room;
  const to = Math.log10(high) + room;
  const factors = to - from > 2.5 ? [1] : [1, 2, 5];
  const ticks: number[] = [];
  for (let power = Math.floor(from); power <= Math.ceil(to); power += 1)
    for (const factor of factors) {
      const value = factor * 10 ** power;
      if (Math.log10(value) >= from && Math.log10(value) <= to) ticks.push(value);
    }
  return { ticks, place: (value) => (Math.log10(value) - from) / (to - from) };
}

function tickLabel(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e6) return `${formatGeneral(value / 1e6)}M`;
  if (size >= 1e4) return `${formatGeneral(value / 1e3)}k`;
  // Sums of steps end in digits that are not meant.
  return formatGeneral(value, 5);
}
