// Figures and tables.

/** Linear between ranks. @param {readonly number[]} values @param {number} percent */
export function percentile(values, percent) {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  const rank = ((sorted.length - 1) * percent) / 100;
  const low = Math.floor(rank);
  const high = Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (rank - low);
}

/** `null` where there is nothing, or nothing was measured. */
export function median(values) {
  return percentile(
    values.filter((value) => value !== null),
    50,
  );
}

/**
 * The median over rounds of one client's figure over another's: what disturbs a whole round disturbs both alike.
 * @param {readonly (number | null)[]} of @param {readonly (number | null)[]} over the same rounds
 */
export function medianRatio(of, over) {
  const ratios = of.flatMap((value, round) => {
    const base = over[round] ?? null;
    return value === null || base === null || base === 0 ? [] : [value / base];
  });
  return median(ratios);
}

export function shown(value, digits = 2) {
  return value === null || value === undefined ? 'n/a' : value.toFixed(digits);
}

/** Columns as wide as their widest cell; numbers to the right. @param {readonly string[][]} rows the first is the head */
export function tableLines(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const line = (row) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  ');
  const [head, ...rest] = rows;
  return [line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...rest.map(line)];
}

/**
 * One line of the acceptance: a figure against its limit. `null` = not measured.
 * @param {string} what @param {number | null} value @param {number} limit
 */
export function atMost(what, value, limit, unit = '') {
  return { what, value, limit, unit, passed: value === null ? null : value <= limit };
}
