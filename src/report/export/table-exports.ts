import { parquetWriteBuffer } from 'hyparquet-writer';
import { omnimeterVersion } from '../../foundation/version.ts';
import type { RunSummary } from '../../metrics/summary.ts';
import { type ColumnValue, type RequestColumn, requestColumns, textColumn } from './request-columns.ts';

/** A text that a spreadsheet would run as a formula starts with one of these. */
const formulaStart = /^[=+\-@\t\r]/;

function csvCell(value: ColumnValue): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  // Texts come from servers; a leading apostrophe makes a spreadsheet show them.
  const text = formulaStart.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The measured requests as CSV (RFC 4180), one chunk per line; without the texts of replies. */
export function* requestsCsv(summary: RunSummary): Generator<string> {
  yield `${requestColumns.map(({ name }) => name).join(',')}\r\n`;
  for (const row of summary.requests())
    yield `${requestColumns.map((column) => csvCell(column.of(row, summary))).join(',')}\r\n`;
}

/** The measured requests as JSON lines, with the texts of replies and the gaps between tokens. */
export function* requestsJsonl(summary: RunSummary): Generator<string> {
  for (const row of summary.requests()) {
    const entries = [...requestColumns, textColumn].map((column) => [column.name, column.of(row, summary)]);
    const line = { ...Object.fromEntries(entries), itl_ms: Array.from(row.gapsMs) };
    yield `${JSON.stringify(line)}\n`;
  }
}

const parquetTypes = { text: 'STRING', integer: 'INT64', number: 'DOUBLE', boolean: 'BOOLEAN' } as const;

/** The measured requests as a Parquet file (snappy), with the texts of replies. */
export function requestsParquet(summary: RunSummary): Uint8Array {
  const rows = [...summary.requests()];
  const columns: readonly RequestColumn[] = [...requestColumns, textColumn];
  const columnData = columns.map((column) => ({
    name: column.name,
    type: parquetTypes[column.type],
    nullable: true,
    data: rows.map((row) => {
      const value = column.of(row, summary);
      return column.type === 'integer' && typeof value === 'number' ? BigInt(Math.round(value)) : value;
    }),
  }));
  const createdBy = `omnimeter version ${omnimeterVersion}`;
  return new Uint8Array(parquetWriteBuffer({ columnData, createdBy }));
}
