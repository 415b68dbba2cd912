import { formatFixed, formatGeneral } from '../../foundation/python-format.ts';
import type { Comparison, MetricComparison } from './compare-sides.ts';
import { requestCount, type Side } from './compared-run.ts';
import type { GateResult } from './gate.ts';

/** A comparison of one candidate with the baseline, judged: what every output is made from. */
export type JudgedComparison = { readonly comparison: Comparison; readonly gates: readonly GateResult[] };

/** A line of the table as people read it. */
export type ComparisonRow = {
  readonly key: string;
  readonly unit: string;
  readonly baseline: string;
  readonly candidate: string;
  readonly change: string;
  readonly interval: string;
  readonly verdict: string;
};

export const rowTitles = {
  key: 'metric',
  baseline: 'baseline',
  candidate: 'candidate',
  change: 'change',
  interval: 'interval',
  verdict: 'verdict',
} as const satisfies Partial<Record<keyof ComparisonRow, string>>;

/** Five significant digits without an exponent where a person would not write one. */
export function shownNumber(value: number | null): string {
  if (value === null) return 'n/a';
  return Math.abs(value) >= 1e4 ? formatFixed(value, 0) : formatGeneral(value, 5);
}

/** A value as text with its sign; what rounds to 0 has none. */
function signed(value: number, text: string): string {
  const zero = !/[1-9]/.test(text);
  return zero ? text.replace('-', '') : value > 0 ? `+${text}` : text;
}

function shownChange(value: number, kind: 'ratio' | 'difference'): string {
  return kind === 'ratio'
    ? signed(value, `${formatFixed(value * 100, 1)} %`)
    : signed(value, shownNumber(value));
}

/** A metric that people want to read: of the catalogue, seen on one side, and no deviation. */
function isShown({ unit, statistic, baseline, candidate }: MetricComparison): boolean {
  return unit !== null && statistic !== 'std' && (baseline !== null || candidate !== null);
}

export function comparisonRows({ metrics }: Comparison): ComparisonRow[] {
  return metrics.filter(isShown).map((metric) => {
    const { change, changeRatio, interval } = metric;
    return {
      key: metric.key,
      unit: metric.unit ?? '',
      baseline: shownNumber(metric.baseline),
      candidate: shownNumber(metric.candidate),
      change:
        changeRatio !== null
          ? shownChange(changeRatio, 'ratio')
          : change === null
            ? 'n/a'
            : shownChange(change, 'difference'),
      interval:
        interval === null
          ? ''
          : `${shownChange(interval.low, interval.kind)} … ${shownChange(interval.high, interval.kind)}`,
      verdict: metric.verdict ?? (metric.test === null ? '' : 'no difference seen'),
    };
  });
}

/** `runs/a: 3 runs, 1500 requests`. */
export function sideLine(side: Side): string {
  const requests = requestCount(side);
  const runs = side.runs.length === 1 ? '1 run' : `${side.runs.length} runs`;
  return `${side.label}: ${runs}${requests === null ? '' : `, ${requests} requests`}`;
}

/** What the intervals and flags mean, in a sentence. */
export function methodLine(familyError: number): string {
  const percent = formatGeneral(familyError * 100);
  return `Intervals and verdicts hold for all metrics together: between two servers that are alike, ${percent} of 100 comparisons show any difference.`;
}

export function gateLine({ gate, passed, detail }: GateResult): string {
  return `${passed ? 'passed' : 'BROKEN'}  --${gate.kind} '${gate.text}': ${detail}`;
}

/** How many metrics moved, in words. */
export function tallyLine({ metrics }: Comparison): string {
  const count = (verdict: string): number => metrics.filter((metric) => metric.verdict === verdict).length;
  const tested = metrics.filter(({ test }) => test !== null).length;
  if (tested === 0) return 'Nothing could be tested: no requests on both sides, and no second run.';
  return `${tested} tested: ${count('worse')} worse, ${count('better')} better, the rest within scatter.`;
}
