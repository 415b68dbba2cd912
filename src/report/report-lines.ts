import { formatFixed, formatFloat, formatPercent } from '../foundation/python-format.ts';
import type { SampleSummary } from '../foundation/statistics.ts';

export const reportWidth = 50;
const labelWidth = 40;
const valueWidth = 10;

export type ValueFormat = 'integer' | 'fixed' | 'percent';

/** A title centred in a line of `fill`; an odd place goes to the right. */
export function titleLine(text: string, fill: '=' | '-'): string {
  const left = Math.floor(Math.max(reportWidth - text.length, 0) / 2);
  return text.padStart(text.length + left, fill).padEnd(reportWidth, fill);
}

/** A label and its value, padded as the original pads them. */
export function textLine(label: string, value: string): string {
  return `${label.padEnd(labelWidth)} ${value.padEnd(valueWidth)}`;
}

/** @param value `null` prints as `n/a` */
export function valueLine(label: string, value: number | null, format: ValueFormat): string {
  return textLine(label, value === null ? 'n/a' : formatted(value, format));
}

function formatted(value: number, format: ValueFormat): string {
  switch (format) {
    case 'integer':
      return formatFixed(value, 0);
    case 'fixed':
      return formatFixed(value, 2);
    case 'percent':
      return formatPercent(value, 2);
  }
}

/** `99`, `99.9`: a percentile in labels and keys. */
export function percentileName(percentile: number): string {
  return Number.isInteger(percentile) ? String(percentile) : formatFloat(percentile);
}

/** Mean, median and percentiles of a sample that is not empty. `unit` is a suffix such as ` (ms)`. */
export function blockLines(block: {
  readonly title: string;
  readonly label: string;
  readonly unit: string;
  readonly sample: SampleSummary;
}): string[] {
  const { title, label, unit, sample } = block;
  const line = (statistic: string, value: number | null): string =>
    valueLine(`${statistic} ${label}${unit}:`, value, 'fixed');
  return [
    titleLine(title, '-'),
    line('Mean', sample.mean),
    line('Median', sample.median),
    ...sample.percentiles.map(([p, value]) => line(`P${percentileName(p)}`, value)),
  ];
}
