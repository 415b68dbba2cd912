import { shownNumber } from '../compare/comparison-report.ts';
import { escapeMarkup } from '../escape-markup.ts';
import { type Chart, chartSvg } from '../plot/chart-svg.ts';
import type { ParetoPoint } from './pareto.ts';
import type { PlotRow } from './plot-rows.ts';
import { plotValue } from './plot-rows.ts';

const style = `
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --page: #fff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9ba5b0; --line: #3a424c; --page: #11161c; } }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 80rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.5rem; margin: 0 0 .5rem; overflow-wrap: anywhere; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
figure { margin: 0 0 1.5rem; overflow-x: auto; } figure svg { max-width: 100%; height: auto; border-radius: 6px; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } .soft { color: var(--soft); }
`;

/** What the table of the page shows, as far as the runs have it. */
const columns = [
  'run_number',
  'max_concurrency',
  'request_rate',
  'completed',
  'failed',
  'request_throughput',
  'output_throughput',
  'mean_ttft_ms',
  'p99_ttft_ms',
  'mean_tpot_ms',
  'p99_tpot_ms',
  'mean_e2el_ms',
  'p99_e2el_ms',
];

/** The figures of a sweep and its runs as one page: no script, no network; exact numbers on hover. */
export function sweepPage(of: {
  readonly title: string;
  readonly figures: readonly { readonly title: string; readonly chart: Chart }[];
  readonly rows: readonly PlotRow[];
  readonly pareto: readonly ParetoPoint[];
  readonly notes: readonly string[];
}): string {
  const figures = of.figures.map(
    ({ title, chart }) => `<h2>${escapeMarkup(title)}</h2><figure>${chartSvg(chart)}</figure>`,
  );
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'">',
    `<title>${escapeMarkup(of.title)}</title><style>${style}</style></head><body><main>`,
    `<h1>${escapeMarkup(of.title)}</h1>`,
    `<p class="soft">${of.rows.length} runs. A point is the mean of a combination's runs; faint dots are the runs.</p>`,
    ...of.notes.map((note) => `<p class="soft">${escapeMarkup(note)}</p>`),
    ...figures,
    frontTable(of.pareto),
    runTable(of.rows),
    '</main></body></html>',
    '',
  ].join('\n');
}

function frontTable(points: readonly ParetoPoint[]): string {
  const front = points.filter(({ onFront }) => onFront).toSorted((a, b) => b.perUser - a.perUser);
  if (front.length === 0) return '';
  const rows = front.map((point) => [
    point.combination,
    shownNumber(point.perUser),
    shownNumber(point.perGpu),
  ]);
  return `<h2>Pareto frontier</h2>${table(['combination', 'tokens/s/user', 'tokens/s/GPU'], rows)}`;
}

function runTable(rows: readonly PlotRow[]): string {
  const shown = columns.filter((key) => rows.some((row) => plotValue(row, key) !== undefined));
  const body = rows.map((row) => [row.combination, ...shown.map((key) => cell(plotValue(row, key)))]);
  return `<h2>Runs</h2>${table(['combination', ...shown], body)}`;
}

function cell(value: unknown): string {
  if (value === Number.POSITIVE_INFINITY) return 'inf';
  if (typeof value === 'number' && Number.isFinite(value)) return shownNumber(value);
  return value === null || value === undefined || typeof value === 'number' ? 'n/a' : String(value);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (tag: 'td' | 'th', cells: readonly string[]): string =>
    `<tr>${cells.map((text) => `<${tag}${tag === 'th' ? ' scope="col"' : ''}>${escapeMarkup(text)}</${tag}>`).join('')}</tr>`;
  return `<div class="scroll" tabindex="0" role="region" aria-label="${escapeMarkup(head.join(', '))}"><table><thead>${line('th', head)}</thead><tbody>${rows.map((row) => line('td', row)).join('')}</tbody></table></div>`;
}
