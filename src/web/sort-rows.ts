export type SortValue = string | number | null;
export type SortOrder = { readonly column: number; readonly descending: boolean };

const collator = new Intl.Collator('en', { numeric: true });

/** A sorted copy. What was not observed stands last, whichever way; equals keep their order. */
export function sortRows<Row>(
  rows: readonly Row[],
  order: SortOrder,
  valueAt: (row: Row, column: number) => SortValue,
): Row[] {
  const sign = order.descending ? -1 : 1;
  return [...rows].sort((a, b) => compare(valueAt(a, order.column), valueAt(b, order.column), sign));
}

function compare(a: SortValue, b: SortValue, sign: number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a === 'number' && typeof b === 'number') return sign * (a - b);
  return sign * collator.compare(String(a), String(b));
}
