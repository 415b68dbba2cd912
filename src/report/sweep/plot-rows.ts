import { UsageError } from '../../foundation/errors.ts';
import { nearestName } from '../../foundation/nearest-name.ts';

/** A run as the plots see it, and the combination that it belongs to. */
export type PlotRow = { readonly combination: string; readonly data: Readonly<Record<string, unknown>> };

/** A value of a run; the texts `inf`, `-inf` and `nan` are numbers. */
export function plotValue({ data }: PlotRow, key: string): unknown {
  const name = [key, key.replaceAll('-', '_'), key.replaceAll('_', '-')].find((each) =>
    Object.hasOwn(data, each),
  );
  const value = name === undefined ? undefined : data[name];
  if (value === 'inf') return Number.POSITIVE_INFINITY;
  if (value === '-inf') return Number.NEGATIVE_INFINITY;
  return value === 'nan' ? Number.NaN : value;
}

/** A number of a run; `null` = it has none under this key. */
export function plotNumber(row: PlotRow, key: string): number | null {
  const value = plotValue(row, key);
  if (typeof value === 'number' && !Number.isNaN(value)) return value;
  const parsed = typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
  return Number.isNaN(parsed) ? null : parsed;
}

/** @throws UsageError for a key that no run has, naming the nearest */
export function checkPlotKey(rows: readonly PlotRow[], key: string, flag: string): void {
  if (rows.some((row) => plotValue(row, key) !== undefined)) return;
  // Keys come from files; one with other characters is no word to suggest.
  const known = [...new Set(rows.flatMap(({ data }) => Object.keys(data)))]
    .filter((name) => /^[\w.-]+$/.test(name))
    .sort();
  const nearest = nearestName(key, known);
  const slip = nearest === null ? '' : ` Did you mean ${nearest}?`;
  throw new UsageError(`${flag}: no run has '${key}'.${slip}\nAvailable: ${known.join(', ')}`);
}

const operators = ['==', '!=', '<=', '>=', '<', '>'] as const;

/** A condition on runs, such as `max_concurrency<1000`. */
export type PlotFilter = (row: PlotRow) => boolean;

/** @throws UsageError for what is no condition, or names a key that no run has */
export function parseFilters(text: string, rows: readonly PlotRow[]): PlotFilter[] {
  return parts(text).map((part) => {
    const operator = operators.find((each) => part.includes(each));
    const [key = '', target = ''] =
      operator === undefined ? [] : part.split(operator).map((side) => side.trim());
    if (operator === undefined || key === '')
      throw new UsageError(`--filter-by: '${part}' is no condition. Operators: ${operators.join(' ')}.`);
    checkPlotKey(rows, key, '--filter-by');
    return condition(key, operator, target.replace(/^(['"])(.*)\1$/, '$2'));
  });
}

function condition(key: string, operator: (typeof operators)[number], target: string): PlotFilter {
  const number = Number(target.replace(/^([+-]?)inf(inity)?$/i, '$1Infinity'));
  const numeric = target !== '' && !Number.isNaN(number);
  return (row) => {
    const value = plotNumber(row, key);
    if (operator === '==' || operator === '!=') {
      const equal = numeric && value !== null ? value === number : String(plotValue(row, key)) === target;
      return equal === (operator === '==');
    }
    if (value === null || !numeric) return false;
    if (operator === '<') return value < number;
    if (operator === '<=') return value <= number;
    return operator === '>' ? value > number : value >= number;
  };
}

/** A key whose values are cut down to multiples of a size. */
export type PlotBin = { readonly key: string; readonly size: number };

/** @throws UsageError unless `key%size` pairs separated by commas */
export function parseBins(text: string, rows: readonly PlotRow[]): PlotBin[] {
  return parts(text).map((part) => {
    const [key = '', sizeText = '', extra] = part.split('%').map((side) => side.trim());
    const size = Number(sizeText);
    if (key === '' || extra !== undefined || !(size > 0))
      throw new UsageError(`--bin-by: '${part}' is no bin. Write it like max_concurrency%100.`);
    checkPlotKey(rows, key, '--bin-by');
    return { key, size };
  });
}

/** A row with its binned values in place. */
export function binned(row: PlotRow, bins: readonly PlotBin[]): PlotRow {
  const changed = bins.flatMap(({ key, size }) => {
    const value = plotNumber(row, key);
    return value === null ? [] : [[key, Math.floor(value / size) * size] as const];
  });
  return changed.length === 0 ? row : { ...row, data: { ...row.data, ...Object.fromEntries(changed) } };
}

function parts(text: string): string[] {
  return text.split(',').filter((part) => part.trim() !== '');
}

/** Rows by the values of some keys, in order of appearance; the name is `k=v` lines. */
export function groupRows(rows: readonly PlotRow[], keys: readonly string[]): Map<string, PlotRow[]> {
  const groups = new Map<string, PlotRow[]>();
  for (const row of rows) {
    const name = keys.map((key) => `${key}=${shownValue(plotValue(row, key))}`).join('-');
    groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  return groups;
}

function shownValue(value: unknown): string {
  if (value === Number.POSITIVE_INFINITY) return 'inf';
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? 'none');
}
