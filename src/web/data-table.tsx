import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type SortOrder, type SortValue, sortRows } from './sort-rows.ts';

export type TableColumn<Row> = {
  readonly name: string;
  /** Behind the name, smaller. */
  readonly unit?: string;
  readonly title?: string;
  readonly numeric?: boolean;
  readonly value: (row: Row) => SortValue;
  readonly show: (row: Row) => ComponentChildren;
  /** Every digit, on hover. */
  readonly exact?: (row: Row) => string;
};

type Props<Row> = {
  readonly caption: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** `null` = in the order given. */
  readonly initial?: SortOrder | null;
  /** Rows a page; all on one where it is left out. */
  readonly pageSize?: number;
  readonly chosenKey?: string | null;
};

/** A table whose headers sort it, both ways. */
export function DataTable<Row>({
  caption,
  columns,
  rows,
  keyOf,
  initial = null,
  pageSize,
  chosenKey,
}: Props<Row>): JSX.Element {
  const [order, setOrder] = useState<SortOrder | null>(initial);
  const [page, setPage] = useState(0);
  const sorted =
    order === null ? rows : sortRows(rows, order, (row, column) => columns[column]?.value(row) ?? null);
  const pages = pageSize === undefined ? 1 : Math.max(1, Math.ceil(sorted.length / pageSize));
  const at = Math.min(page, pages - 1);
  const shown = pageSize === undefined ? sorted : sorted.slice(at * pageSize, (at + 1) * pageSize);
  const sortBy = (column: number): void => {
    // Numbers are looked at from their far end, names from their beginning.
    const first = columns[column]?.numeric === true;
    setOrder({ column, descending: order?.column === column ? !order.descending : first });
    setPage(0);
  };
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section class="table-scroll" aria-label={caption} tabIndex={0}>
        <table>
          <caption class="visually-hidden">{caption}</caption>
          <thead>
            <tr>
              {columns.map((column, i) => (
                <th
                  key={column.name}
                  scope="col"
                  class={column.numeric ? 'number' : ''}
                  aria-sort={sortState(order, i)}
                  title={column.title}
                >
                  <button type="button" onClick={() => sortBy(i)}>
                    {column.name}
                    {column.unit ? <span class="unit"> {column.unit}</span> : null}
                    <span class="arrow" aria-hidden="true">
                      {order?.column === i ? (order.descending ? '▼' : '▲') : ''}
                    </span>
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <tr key={keyOf(row)} class={keyOf(row) === chosenKey ? 'chosen' : ''}>
                {columns.map((column) => (
                  <td key={column.name} class={column.numeric ? 'number' : ''} title={column.exact?.(row)}>
                    {column.show(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {pages > 1 ? (
        <nav class="pages" aria-label={`Pages of ${caption}`}>
          <button type="button" disabled={at === 0} onClick={() => setPage(at - 1)}>
            Previous
          </button>
          <span>
            Page {at + 1} of {pages}
          </span>
          <button type="button" disabled={at === pages - 1} onClick={() => setPage(at + 1)}>
            Next
          </button>
        </nav>
      ) : null}
    </>
  );
}

function sortState(order: SortOrder | null, column: number): 'ascending' | 'descending' | 'none' {
  if (order?.column !== column) return 'none';
  return order.descending ? 'descending' : 'ascending';
}
