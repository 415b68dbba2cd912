import { escapeMarkup } from '../escape-markup.ts';
import type { MetricComparison } from './compare-sides.ts';
import {
  type ComparisonRow,
  comparisonRows,
  gateLine,
  type JudgedComparison,
  methodLine,
  rowTitles,
  sideLine,
  tallyLine,
} from './comparison-report.ts';

const style = `
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --page: #fff; --worse: #b3261e; --better: #1a6b3c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9ba5b0; --line: #3a424c; --page: #11161c; --worse: #ff9a8f; --better: #7ddca0; } }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.5rem; margin: 0 0 .5rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; overflow-wrap: anywhere; }
p, li { overflow-wrap: anywhere; } .soft { color: var(--soft); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:first-child, td:first-child, th:last-child, td:last-child { text-align: left; }
.worse, .broken { color: var(--worse); font-weight: 600; } .better, .passed { color: var(--better); font-weight: 600; }
svg { display: block; width: 16rem; height: 1.1rem; } svg .axis { stroke: var(--line); } svg .span { stroke: currentColor; stroke-width: 2; } svg circle { fill: currentColor; }
`;

/** The comparison as one page: no script, no network. */
export function renderComparisonHtml(judged: readonly JudgedComparison[], familyError: number): string {
  const [first] = judged;
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'">',
    `<title>Omnimeter comparison</title><style>${style}</style></head><body><main>`,
    '<h1>Comparison</h1>',
    first ? `<p>Baseline ${escapeMarkup(sideLine(first.comparison.baseline))}</p>` : '',
    ...judged.map(section),
    `<p class="soft">${escapeMarkup(methodLine(familyError))}</p>`,
    '</main></body></html>',
    '',
  ].join('\n');
}

function section({ comparison, gates }: JudgedComparison): string {
  const rows = comparisonRows(comparison);
  const spans = relativeSpans(comparison.metrics);
  const titles = [...Object.values(rowTitles).slice(0, -1), 'relative change', rowTitles.verdict];
  return [
    '<section>',
    `<h2>Candidate ${escapeMarkup(sideLine(comparison.candidate))}</h2>`,
    `<p>${escapeMarkup(tallyLine(comparison))}</p>`,
    list(
      gates.map(
        (gate) => `<li class="${gate.passed ? 'passed' : 'broken'}">${escapeMarkup(gateLine(gate))}</li>`,
      ),
    ),
    '<div class="scroll" tabindex="0" role="region" aria-label="Metrics of both sides"><table><thead><tr>',
    ...titles.map((title) => `<th scope="col">${title}</th>`),
    '</tr></thead><tbody>',
    ...rows.map((row) => tableRow(row, spans)),
    '</tbody></table></div>',
    list(comparison.notes.map((note) => `<li class="soft">${escapeMarkup(note)}</li>`)),
    '</section>',
  ].join('\n');
}

function list(items: readonly string[]): string {
  return items.length === 0 ? '' : `<ul>${items.join('')}</ul>`;
}

type Spans = { readonly reach: number; readonly of: ReadonlyMap<string, readonly [number, number, number]> };

/** Relative intervals on one common axis, cut at ±100 %. */
function relativeSpans(metrics: readonly MetricComparison[]): Spans {
  const of = new Map<string, readonly [number, number, number]>();
  let reach = 0.05;
  for (const { key, interval, changeRatio } of metrics) {
    if (interval?.kind !== 'ratio' || changeRatio === null) continue;
    of.set(key, [interval.low, changeRatio, interval.high]);
    reach = Math.max(reach, Math.abs(interval.low), Math.abs(interval.high));
  }
  return { reach: Math.min(1, reach), of };
}

function tableRow(row: ComparisonRow, spans: Spans): string {
  const cells = [row.key, row.baseline, row.candidate, row.change, row.interval].map(
    (text, i) => `<td${i === 0 ? ` title="${escapeMarkup(row.unit)}"` : ''}>${escapeMarkup(text)}</td>`,
  );
  const kind = row.verdict === 'worse' || row.verdict === 'better' ? row.verdict : 'soft';
  return `<tr>${cells.join('')}<td class="${kind}">${spanSvg(row, spans)}</td><td class="${kind}">${escapeMarkup(row.verdict)}</td></tr>`;
}

function spanSvg(row: ComparisonRow, { reach, of }: Spans): string {
  const span = of.get(row.key);
  if (!span) return '';
  const x = (value: number): string =>
    (100 + (95 * Math.min(reach, Math.max(-reach, value))) / reach).toFixed(1);
  const [low, middle, high] = span;
  const label = escapeMarkup(`${row.change}, ${row.interval}`);
  return `<svg viewBox="0 0 200 14" role="img" aria-label="${label}"><title>${label}</title><line class="axis" x1="100" x2="100" y1="0" y2="14"/><line class="span" x1="${x(low)}" x2="${x(high)}" y1="7" y2="7"/><circle cx="${x(middle)}" cy="7" r="3"/></svg>`;
}
