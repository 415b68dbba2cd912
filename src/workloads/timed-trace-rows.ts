import { InputFileError } from '../foundation/errors.ts';
import { countOf, readCsv } from './csv-file.ts';
import type { LoadContext, TimedTraceOptions } from './dataset.ts';
import { DatasetRowError, openEntryFile } from './entry-file.ts';
import { isRow, type Row, shown } from './row-value.ts';

/** One request of a trace: when, how long, and which parts of its prompt others have too. */
export type TimedTraceRow = {
  /** s, after some moment. */
  readonly timestampS: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** `null` where the trace's form has none. */
  readonly hashIds: readonly string[] | null;
};

/** Forms of traces as CSV, by their columns. */
const csvForms = [
  {
    name: 'Azure’s',
    timestamp: 'TIMESTAMP',
    inputLength: 'ContextTokens',
    outputLength: 'GeneratedTokens',
  },
  {
    name: 'BurstGPT’s',
    timestamp: 'Timestamp',
    inputLength: 'Request tokens',
    outputLength: 'Response tokens',
  },
] as const;

type CsvColumns = { readonly timestamp: string; readonly inputLength: string; readonly outputLength: string };

const fieldFlags = {
  timestamp: 'timed-trace-label-timestamp',
  inputLength: 'timed-trace-label-input-length',
  outputLength: 'timed-trace-label-output-length',
  hashIds: 'timed-trace-label-hash-ids',
} as const;

const fields = ['timestamp', 'inputLength', 'outputLength', 'hashIds'] as const;

/** A CSV has no hash ids. */
const csvFields = ['timestamp', 'inputLength', 'outputLength'] as const;

const whatToDo = 'Fix the row or pass --skip-invalid.';

/** Azure writes seven digits of a second, which are more than a date has. */
function dateS(text: string): number | null {
  const parts = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})(\.\d+)?(Z|[+-]\d{2}:\d{2})?$/.exec(text.trim());
  if (parts === null) return null;
  const [, day, time, fraction = '', zone = 'Z'] = parts;
  const ms = Date.parse(`${day}T${time}${zone}`);
  return Number.isNaN(ms) ? null : ms / 1000 + Number(`0${fraction}`);
}

/** Seconds: a number of the trace's units, or a date and time. */
function timeOf(value: unknown, multiplier: number): number | null {
  if (typeof value === 'number' && Number.isFinite(value)) return value * multiplier;
  if (typeof value !== 'string' || value.trim() === '') return null;
  const number = Number(value);
  return Number.isFinite(number) ? number * multiplier : dateS(value);
}

function wholeOf(value: unknown): number | null {
  if (typeof value === 'string') return countOf(value);
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : null;
}

function wrong(label: string, value: unknown, expected: string): string {
  return `"${label}" is ${shown(value)}, expected ${expected}. ${whatToDo}`;
}

function numbersOf(
  value: (field: 'timestamp' | 'inputLength' | 'outputLength') => unknown,
  labels: CsvColumns,
  multiplier: number,
): Omit<TimedTraceRow, 'hashIds'> | string {
  const timestampS = timeOf(value('timestamp'), multiplier);
  if (timestampS === null) return wrong(labels.timestamp, value('timestamp'), 'a number, or a date and time');
  const inputTokens = wholeOf(value('inputLength'));
  if (inputTokens === null || inputTokens === 0)
    return wrong(labels.inputLength, value('inputLength'), 'a whole number of tokens above 0');
  const outputTokens = wholeOf(value('outputLength'));
  // Servers refuse to generate nothing; traces have 0 for requests that failed.
  if (outputTokens === null || outputTokens === 0)
    return wrong(labels.outputLength, value('outputLength'), 'a whole number of tokens above 0');
  return { timestampS, inputTokens, outputTokens };
}

/** The row of a JSONL trace, or what is wrong with it. */
export function parseTimedRow(row: unknown, options: TimedTraceOptions): TimedTraceRow | string {
  if (!isRow(row)) return `the row is ${shown(row)}, expected an object. ${whatToDo}`;
  const { labels } = options;
  const missing = fields.find((field) => row[labels[field]] === undefined);
  if (missing !== undefined)
    return (
      `no field "${labels[missing]}"; the row has ${Object.keys(row).join(', ') || 'none'}. ` +
      `--${fieldFlags[missing]} names it, where it is called otherwise.`
    );
  const numbers = numbersOf((field) => row[labels[field]], labels, options.secMultiplier);
  if (typeof numbers === 'string') return numbers;
  const hashIds = hashIdsOf(row, labels.hashIds);
  return typeof hashIds === 'string' ? hashIds : { ...numbers, hashIds };
}

function hashIdsOf(row: Row, label: string): string[] | string {
  const value = row[label];
  // As text too, for ids beyond the whole numbers of a double.
  const isId = (id: unknown): id is number | string =>
    Number.isInteger(id) || (typeof id === 'string' && /^-?\d+$/.test(id));
  if (Array.isArray(value) && value.every(isId)) return value.map(String);
  return wrong(label, value, 'a list of whole numbers');
}

/** What was left out because it does not parse, and how many rows there were. */
export type TimedTrace = {
  readonly rows: readonly TimedTraceRow[];
  readonly looked: number;
  readonly invalid: number;
  /** How the file's form was recognised, where it has several. */
  readonly form: string | null;
};

async function readJsonl(path: string, { options, progress }: LoadContext): Promise<TimedTrace> {
  const file = await openEntryFile(path);
  try {
    const rows: TimedTraceRow[] = [];
    let invalid = 0;
    for (let index = 0; index < file.count; index += 1) {
      try {
        const row = parseTimedRow(await file.read(index), options.timedTrace);
        if (typeof row === 'string') throw await file.error(index, row);
        rows.push(row);
      } catch (error) {
        if (!options.skipInvalid || !(error instanceof DatasetRowError)) throw error;
        invalid += 1;
      }
      if (index % 1000 === 999) progress(index + 1, file.count);
    }
    return { rows, looked: file.count, invalid, form: null };
  } finally {
    await file.close();
  }
}

/** The columns by the flags, where any was given; else those of a form that is known. */
function columnsOf(
  path: string,
  columns: readonly string[],
  { labels, given }: TimedTraceOptions,
): CsvColumns & { readonly name: string | null } {
  const asked = given.some((name) => name.startsWith('timed-trace-label-'));
  const candidates = asked ? [{ name: null, ...labels }] : [...csvForms, { name: null, ...labels }];
  const found = candidates.find((form) => csvFields.every((field) => columns.includes(form[field])));
  if (found !== undefined) return found;
  const missing = csvFields.find((field) => !columns.includes(labels[field])) ?? 'timestamp';
  throw new InputFileError(
    `${path}:1: no column "${labels[missing]}"; the file has ${columns.join(', ')}. --${fieldFlags[missing]} names ` +
      `it. Known without flags: ${csvForms.map((form) => `${form.name} (${csvFields.map((field) => form[field]).join(', ')})`).join('; ')}.`,
  );
}

async function readCsvTrace(path: string, { options }: LoadContext): Promise<TimedTrace> {
  const { timedTrace, skipInvalid } = options;
  const rows: TimedTraceRow[] = [];
  let looked = 0;
  let invalid = 0;
  let columns: (CsvColumns & { readonly name: string | null }) | null = null;
  await readCsv(path, {
    header: (names) => {
      columns = columnsOf(path, names, timedTrace);
    },
    row: ({ line, get }) => {
      if (columns === null) return;
      const form = columns;
      looked += 1;
      const numbers = numbersOf((field) => get(form[field]), form, timedTrace.secMultiplier);
      if (typeof numbers !== 'string') rows.push({ ...numbers, hashIds: null });
      else if (skipInvalid) invalid += 1;
      else throw new DatasetRowError(`${path}:${line}: ${numbers}`);
    },
  });
  const { name } = columns ?? { name: null };
  return { rows, looked, invalid, form: name };
}

/** @throws InputFileError for a file or row that does not parse, naming file, line, what was found and expected */
export async function readTimedTrace(path: string, context: LoadContext): Promise<TimedTrace> {
  return await (/\.csv$/i.test(path) ? readCsvTrace(path, context) : readJsonl(path, context));
}
