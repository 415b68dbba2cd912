import { sanitizeTableLine } from '../sanitize-table-line.ts';
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

const columns = ['key', 'baseline', 'candidate', 'change', 'interval', 'verdict'] as const;

/** The comparison as lines for a terminal; nothing that a file says can move the cursor. */
export function renderComparison({ comparison, gates }: JudgedComparison, familyError: number): string[] {
  return [
    `baseline   ${sideLine(comparison.baseline)}`,
    `candidate  ${sideLine(comparison.candidate)}`,
    '',
    ...table(comparisonRows(comparison)),
    '',
    tallyLine(comparison),
    methodLine(familyError),
    ...comparison.notes.map((note) => `note: ${note}`),
    ...(gates.length > 0 ? ['', ...gates.map(gateLine)] : []),
  ].map((line) => sanitizeTableLine(line));
}

function table(rows: readonly ComparisonRow[]): string[] {
  const all: Pick<ComparisonRow, (typeof columns)[number]>[] = [{ ...rowTitles }, ...rows];
  const widths = columns.map((column) => Math.max(...all.map((row) => row[column].length)));
  return all.map((row) =>
    columns
      .map((column, i) => {
        const left = column === 'key' || column === 'verdict';
        return left ? row[column].padEnd(widths[i] ?? 0) : row[column].padStart(widths[i] ?? 0);
      })
      .join('  ')
      .trimEnd(),
  );
}
