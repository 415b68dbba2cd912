/**
 * A figure > 0 of a stage snapshot, or `null`: absent, zero (servers send 0 for "none"), or no number. Numeric
 * strings are read, of a list the first that fits counts; booleans are no figures.
 */
export function positiveFigure(value: unknown): number | null {
  if (Array.isArray(value)) {
    for (const item of value) {
      const found = positiveFigure(item);
      if (found !== null) return found;
    }
    return null;
  }
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) && number > 0 ? number : null;
}

/** The finite numbers ≥ 0 of a list; `null` = no list, or an entry that is none. */
export function figureList(value: unknown): readonly number[] | null {
  if (!Array.isArray(value)) return null;
  const isFigure = (item: unknown): item is number =>
    typeof item === 'number' && Number.isFinite(item) && item >= 0;
  return value.every(isFigure) ? value : null;
}
