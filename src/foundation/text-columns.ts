/**
 * Rows of texts as lines of aligned columns, two blanks apart, without blanks at the end.
 * @param rows cells; a row may be shorter than the first, which says how many columns there are
 * @param leftColumns so many columns begin at the left, the others end at the right
 */
export function textColumns(rows: readonly (readonly string[])[], leftColumns: number): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const cell = (text: string, column: number): string => {
    const width = widths[column] ?? 0;
    return column < leftColumns ? text.padEnd(width) : text.padStart(width);
  };
  return rows.map((row) => row.map(cell).join('  ').trimEnd());
}
