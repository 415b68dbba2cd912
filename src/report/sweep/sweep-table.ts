import { basename } from 'node:path';
import { formatFixed } from '../../foundation/python-format.ts';
import { mean } from '../../foundation/statistics.ts';
import { textColumns } from '../../foundation/text-columns.ts';
import { shownNumber } from '../compare/comparison-report.ts';
import { sanitizeTableLine } from '../sanitize-table-line.ts';

type Run = Readonly<Record<string, unknown>>;

/** What the table of a sweep shows, as far as the runs have it. */
const columns: readonly (readonly [key: string, title: string])[] = [
  ['max_concurrency', 'concurrency'],
  ['request_rate', 'rate'],
  ['completed', 'completed'],
  ['failed', 'failed'],
  ['request_throughput', 'req/s'],
  ['output_throughput', 'tok/s'],
  ['mean_ttft_ms', 'mean TTFT ms'],
  ['p99_ttft_ms', 'p99 TTFT ms'],
  ['mean_tpot_ms', 'mean TPOT ms'],
  ['mean_e2el_ms', 'mean E2EL ms'],
  ['p99_e2el_ms', 'p99 E2EL ms'],
];
/** The runs of a sweep as a table: a line per combination, the mean of its runs, and how far they lie apart. */
export function sweepTable(
  combinations: readonly { readonly folder: string; readonly runs: readonly Run[] }[],
): string[] {
  const measured = combinations.filter(({ runs }) => runs.length > 0);
  if (measured.length === 0) return [];
  const all = measured.flatMap(({ runs }) => runs);
  const shown = columns.filter(([key]) => all.some((run) => run[key] !== undefined && run[key] !== null));
  const rows = measured.map(({ folder, runs }) => [
    basename(folder),
    String(runs.length),
    ...shown.map(([key]) => cell(runs, key)),
  ]);
  const table = [['combination', 'runs', ...shown.map(([, title]) => title)], ...rows];
  return textColumns(table, 1).map((line) => sanitizeTableLine(line));
}

function cell(group: readonly Run[], key: string): string {
  const values = group.map((run) => run[key]);
  const numbers = values.filter((value) => typeof value === 'number');
  if (numbers.length === 0) return String(values.find((value) => typeof value === 'string') ?? 'n/a');
  const centre = mean(numbers) ?? Number.NaN;
  const spread = Math.sqrt(
    numbers.reduce((sum, value) => sum + (value - centre) ** 2, 0) / Math.max(1, numbers.length - 1),
  );
  if (numbers.length < 2 || spread === 0) return shownNumber(centre);
  return `${shownNumber(centre)} ±${formatFixed((100 * spread) / Math.abs(centre), 0)} %`;
}
