import { escapeMarkup } from '../escape-markup.ts';
import { type Axis, type AxisScale, axisOf } from './axis.ts';

/** A point of a curve, with the single runs that it stands for. */
export type ChartPoint = {
  readonly x: number;
  readonly y: number;
  readonly label: string;
  readonly runs: readonly { readonly x: number; readonly y: number }[];
};

export type ChartSeries = {
  readonly name: string;
  readonly points: readonly ChartPoint[];
  /** Place in the palette of colours; `null` = grey. */
  readonly colour: number | null;
  readonly dash: number;
  readonly width: number;
  readonly line: boolean;
};

/** One pair of axes. */
export type ChartPanel = {
  readonly title: string;
  readonly series: readonly ChartSeries[];
};

export type Chart = {
  readonly title: string;
  readonly xTitle: string;
  readonly yTitle: string;
  readonly xScale: AxisScale;
  readonly yScale: AxisScale;
  /** Rows of panels; all share their axes, so that they can be compared. */
  readonly rows: readonly (readonly ChartPanel[])[];
};

/** Told apart by people who see colours differently, on white (Okabe and Ito 2008, without the yellow). */
const palette = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#e69f00', '#000000'];
const dashes = ['', '7 4', '2 3', '9 3 2 3'];
const panelWidth = 420;
const panelHeight = 290;
/** `top` holds the title of a panel, and is smaller where none has one. */
const margin = { left: 62, right: 16, top: 30, bottom: 46 };
const titleHeight = 34;
const legendLine = 18;

/** A chart as an SVG document: a white background, no script, text as text. */
export function chartSvg(chart: Chart): string {
  const columns = Math.max(1, ...chart.rows.map((row) => row.length));
  const legend = legendOf(chart);
  const untitled = chart.rows.flat().every(({ title }) => title === '');
  const above = untitled ? titleHeight - 18 : titleHeight;
  const width = columns * panelWidth + 10;
  const height = above + chart.rows.length * panelHeight + legend.length * legendLine + 14;
  const points = chart.rows.flat().flatMap(({ series }) => series.flatMap(({ points: own }) => own));
  const all = points.flatMap((point) => [point, ...point.runs]);
  const axes = {
    x: axisOf(
      all.map(({ x }) => x),
      chart.xScale,
    ),
    y: axisOf(
      all.map(({ y }) => y),
      chart.yScale,
    ),
  };
  const panels = chart.rows.flatMap((row, r) =>
    row.map((panel, c) => {
      const at = `translate(${c * panelWidth} ${above + r * panelHeight})`;
      return `<g transform="${at}">${panelSvg(panel, chart, axes)}</g>`;
    }),
  );
  const keys = legend.map((series, i) => {
    const y = above + chart.rows.length * panelHeight + 4 + i * legendLine;
    return `<g transform="translate(${margin.left} ${y})">${legendKey(series)}</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="DejaVu Sans, Liberation Sans, Arial, sans-serif" font-size="11" fill="#1b1f24" role="img" aria-label="${escapeMarkup(chart.title)}">`,
    `<title>${escapeMarkup(chart.title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text x="${margin.left}" y="22" font-size="14" font-weight="600">${escapeMarkup(chart.title)}</text>`,
    ...panels,
    ...keys,
    '</svg>',
  ].join('\n');
}

function fixed(value: number): string {
  return value.toFixed(1);
}

function panelSvg(panel: ChartPanel, chart: Chart, axes: { readonly x: Axis; readonly y: Axis }): string {
  const inner = {
    width: panelWidth - margin.left - margin.right,
    height: panelHeight - margin.top - margin.bottom,
  };
  const x = (value: number): number => margin.left + axes.x.place(value) * inner.width;
  const y = (value: number): number => margin.top + (1 - axes.y.place(value)) * inner.height;
  const bottom = margin.top + inner.height;
  const gridX = axes.x.ticks.map(
    ({ value, label }) =>
      `<path d="M${fixed(x(value))} ${margin.top}V${bottom}" stroke="#e4e8ec"/><text x="${fixed(x(value))}" y="${bottom + 16}" text-anchor="middle">${escapeMarkup(label)}</text>`,
  );
  const gridY = axes.y.ticks.map(
    ({ value, label }) =>
      `<path d="M${margin.left} ${fixed(y(value))}H${margin.left + inner.width}" stroke="#e4e8ec"/><text x="${margin.left - 7}" y="${fixed(y(value) + 4)}" text-anchor="end">${escapeMarkup(label)}</text>`,
  );
  return [
    ...gridX,
    ...gridY,
    `<rect x="${margin.left}" y="${margin.top}" width="${inner.width}" height="${inner.height}" fill="none" stroke="#8a939d"/>`,
    `<text x="${margin.left}" y="${margin.top - 8}" font-weight="600">${escapeMarkup(panel.title)}</text>`,
    `<text x="${margin.left + inner.width / 2}" y="${bottom + 34}" text-anchor="middle">${escapeMarkup(chart.xTitle)}</text>`,
    `<text transform="translate(13 ${margin.top + inner.height / 2}) rotate(-90)" text-anchor="middle">${escapeMarkup(chart.yTitle)}</text>`,
    ...panel.series.map((series) => seriesSvg(series, { x, y })),
  ].join('');
}

type Places = { readonly x: (value: number) => number; readonly y: (value: number) => number };

function colourOf({ colour }: ChartSeries): string {
  return colour === null ? '#8a939d' : (palette[colour % palette.length] ?? '#000000');
}

function seriesSvg(series: ChartSeries, { x, y }: Places): string {
  const colour = colourOf(series);
  const shown = series.points.filter((point) => Number.isFinite(x(point.x)) && Number.isFinite(y(point.y)));
  const path = shown
    .map((point, i) => `${i === 0 ? 'M' : 'L'}${fixed(x(point.x))} ${fixed(y(point.y))}`)
    .join('');
  const runs = shown.flatMap((point) => (point.runs.length > 1 ? point.runs : []));
  return [
    ...runs.map(
      (run) =>
        `<circle cx="${fixed(x(run.x))}" cy="${fixed(y(run.y))}" r="2" fill="${colour}" fill-opacity="0.35"/>`,
    ),
    series.line && shown.length > 1
      ? `<path d="${path}" fill="none" stroke="${colour}" stroke-width="${series.width}" stroke-dasharray="${dashes[series.dash % dashes.length]}"/>`
      : '',
    ...shown.map(
      (point) =>
        `<circle cx="${fixed(x(point.x))}" cy="${fixed(y(point.y))}" r="3.5" fill="${colour}"><title>${escapeMarkup(point.label)}</title></circle>`,
    ),
  ].join('');
}

/** Every curve once, where there is more than one or it has a name. */
function legendOf(chart: Chart): ChartSeries[] {
  const byName = new Map<string, ChartSeries>();
  for (const series of chart.rows.flat().flatMap((panel) => panel.series))
    if (series.name !== '' && !byName.has(series.name)) byName.set(series.name, series);
  return [...byName.values()];
}

function legendKey(series: ChartSeries): string {
  const colour = colourOf(series);
  const line = series.line
    ? `<path d="M0 6H28" stroke="${colour}" stroke-width="${series.width}" stroke-dasharray="${dashes[series.dash % dashes.length]}"/>`
    : '';
  return `${line}<circle cx="14" cy="6" r="3.5" fill="${colour}"/><text x="36" y="10">${escapeMarkup(series.name)}</text>`;
}
