import type { TableColumn } from './data-table.tsx';
import { exactQuantity, formatNumber, unitLabel } from './format.ts';

/** A column of numbers in one unit. */
export function numberColumn<Row>(
  name: string,
  unit: string,
  value: (row: Row) => number | null,
  title?: string,
): TableColumn<Row> {
  return {
    name,
    ...(unitLabel(unit) === '' ? {} : { unit: unitLabel(unit) }),
    ...(title === undefined ? {} : { title }),
    numeric: true,
    value,
    show: (row) => formatNumber(value(row), unit),
    exact: (row) => exactQuantity(value(row), unit),
  };
}

/** A column of numbers whose unit is the row's. */
export function mixedColumn<Row extends { readonly unit: string }>(
  name: string,
  value: (row: Row) => number | null,
): TableColumn<Row> {
  return {
    name,
    numeric: true,
    value,
    show: (row) => formatNumber(value(row), row.unit),
    exact: (row) => exactQuantity(value(row), row.unit),
  };
}
