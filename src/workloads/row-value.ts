/** A row's object, whatever its fields hold. */
export type Row = Readonly<Record<string, unknown>>;

/** Whether a parsed entry is an object with fields. */
export function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value as an error message shows it: short, and `missing` where there is none. */
export function shown(value: unknown): string {
  if (value === undefined) return 'missing';
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

/** `"prompt" is 42, expected text. Fix the row or pass --skip-invalid.` */
export function wrongField(field: string, value: unknown, expected: string): string {
  return `"${field}" is ${shown(value)}, expected ${expected}. Fix the row or pass --skip-invalid.`;
}
