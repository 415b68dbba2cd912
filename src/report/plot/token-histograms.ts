import { formatGeneral } from '../../foundation/python-format.ts';
import { mean, percentileOfSorted, sortedCopy } from '../../foundation/statistics.ts';
import { escapeMarkup } from '../escape-markup.ts';
import { axisOf } from './axis.ts';

/** One histogram: a name and how many tokens each request has. */
export type TokenSample = {
  readonly title: string;
  readonly values: readonly number[];
  readonly colour: string;
};

/** The lengths of requests, as `--plot-dataset-stats` draws them. */
export type TokenLengths = {
  readonly title: string;
  readonly samples: readonly TokenSample[];
};

/** A range of values, low included, and how many lie in it. */
export type Bin = { readonly low: number; readonly high: number; readonly count: number };

const mostBins = 40;
const panel = { width: 360, height: 260 };
const margin = { left: 58, right: 14, top: 52, bottom: 44 };
const titleHeight = 36;

/** Bins of equal whole width from the least value on; one for each value where there are few. */
export function binsOf(values: readonly number[]): Bin[] {
  if (values.length === 0) return [];
  const least = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const most = values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const width = Math.max(1, Math.ceil((most - least + 1) / mostBins));
  const counts = Array.from({ length: Math.floor((most - least) / width) + 1 }, () => 0);
  for (const value of values) {
    const at = Math.floor((value - least) / width);
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts.map((count, at) => ({ low: least + at * width, high: least + (at + 1) * width, count }));
}

/** The histograms side by side, as an SVG document: a white background, no script, text as text. */
export function tokenHistogramsSvg({ title, samples }: TokenLengths): string {
  const width = samples.length * panel.width + 10;
  const height = titleHeight + panel.height;
  const panels = samples.map(
    (sample, at) => `<g transform="translate(${at * panel.width} ${titleHeight})">${panelSvg(sample)}</g>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="DejaVu Sans, Liberation Sans, Arial, sans-serif" font-size="11" fill="#1b1f24" role="img" aria-label="${escapeMarkup(title)}">`,
    `<title>${escapeMarkup(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text x="${margin.left}" y="22" font-size="14" font-weight="600">${escapeMarkup(title)}</text>`,
    ...panels,
    '</svg>',
  ].join('\n');
}

function figures(values: readonly number[]): string {
  const sorted = sortedCopy(values);
  const show = (value: number | null): string => (value === null ? 'n/a' : formatGeneral(value, 5));
  return (
    `n ${values.length}, mean ${show(mean(values))}, P50 ${show(percentileOfSorted(sorted, 50))}, ` +
    `P99 ${show(percentileOfSorted(sorted, 99))}`
  );
}

function panelSvg({ title, values, colour }: TokenSample): string {
  const inner = {
    width: panel.width - margin.left - margin.right,
    height: panel.height - margin.top - margin.bottom,
  };
  const bottom = margin.top + inner.height;
  const head =
    `<text x="${margin.left}" y="${margin.top - 26}" font-weight="600">${escapeMarkup(title)}</text>` +
    `<text x="${margin.left}" y="${margin.top - 10}" fill="#57606a">${escapeMarkup(values.length === 0 ? 'not known' : figures(values))}</text>`;
  const bins = binsOf(values);
  if (bins.length === 0) return head;
  const xAxis = axisOf(
    bins.flatMap(({ low, high }) => [low, high]),
    'linear',
  );
  const yAxis = axisOf([0, ...bins.map(({ count }) => count)], 'linear');
  const x = (value: number): number => margin.left + xAxis.place(value) * inner.width;
  const y = (value: number): number => bottom - yAxis.place(value) * inner.height;
  const gridX = xAxis.ticks.map(
    ({ value, label }) =>
      `<text x="${x(value).toFixed(1)}" y="${bottom + 16}" text-anchor="middle">${escapeMarkup(label)}</text>`,
  );
  const gridY = yAxis.ticks.map(
    ({ value, label }) =>
      `<path d="M${margin.left} ${y(value).toFixed(1)}H${margin.left + inner.width}" stroke="#e4e8ec"/><text x="${margin.left - 7}" y="${(y(value) + 4).toFixed(1)}" text-anchor="end">${escapeMarkup(label)}</text>`,
  );
  const bars = bins
    .filter(({ count }) => count > 0)
    .map(({ low, high, count }) => {
      const from = x(low);
      const wide = Math.max(1, x(high) - from - 0.6);
      const range = high - low === 1 ? `${low}` : `${low}–${high - 1}`;
      return `<rect x="${from.toFixed(1)}" y="${y(count).toFixed(1)}" width="${wide.toFixed(1)}" height="${(bottom - y(count)).toFixed(1)}" fill="${colour}"><title>${range} tokens: ${count}</title></rect>`;
    });
  return [
    head,
    ...gridY,
    ...gridX,
    ...bars,
    `<path d="M${margin.left} ${margin.top}V${bottom}H${margin.left + inner.width}" fill="none" stroke="#8a939d"/>`,
    `<text x="${margin.left + inner.width / 2}" y="${bottom + 34}" text-anchor="middle">tokens</text>`,
    `<text transform="translate(13 ${margin.top + inner.height / 2}) rotate(-90)" text-anchor="middle">requests</text>`,
  ].join('');
}
