import type { RequestTable } from '../report/html/report-model.ts';
import { csvOf } from './csv.ts';

/** The page's requests as CSV. */
export function requestsCsv({ columns, rows }: RequestTable): string {
  const header = [
    'index',
    'outcome',
    'in_page_because',
    'start_s',
    'input_tokens',
    'output_tokens',
    'messages',
  ];
  return csvOf(
    [...header, ...columns.map(({ key, unit }) => (unit === 'ms' || unit === 's' ? `${key}_${unit}` : key))],
    rows.map((row) => [
      row.index,
      row.outcome,
      row.reason,
      row.startS,
      row.inputTokens,
      row.outputTokens,
      row.messages,
      ...row.values,
    ]),
  );
}
