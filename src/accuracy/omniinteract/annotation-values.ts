/** A JSON object of an annotation or transcript. */
export type Row = Readonly<Record<string, unknown>>;

export function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects of a list; anything else holds none. */
export function rowsOf(value: unknown): Row[] {
  return Array.isArray(value) ? value.filter(isRow) : [];
}

/** Trimmed text; numbers as written, nothing for what holds no text. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value.trim();
  return typeof value === 'number' ? String(value) : '';
}

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** A point of time in seconds: a number, a numeric text, `MM:SS` or `HH:MM:SS`. `null` = none of these. */
export function secondsOf(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'string') return null;
  const parts = value.trim().split(':');
  if (parts.length > 3 || !parts.every((part) => decimal.test(part.trim()))) return null;
  const seconds = parts.reduce((sum, part) => sum * 60 + Number(part), 0);
  return Number.isFinite(seconds) ? seconds : null;
}

const trueWords = new Set(['1', 'true', 'yes', 'y', 't']);

/** A mark as annotators write it: a boolean, a number other than 0, or a word. */
export function isMarked(value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value !== 0;
  return trueWords.has(textOf(value).toLowerCase());
}
