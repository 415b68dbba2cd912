/** Flags by name, as a case file writes them. */
export type FlagMap = Readonly<Record<string, unknown>>;

/**
 * Flags as words of a command line. `true` is the bare flag and `false` its `--no-` form, `null` leaves it out, a list
 * is its values, an object its JSON.
 */
export function flagWords(flags: FlagMap): string[] {
  return Object.entries(flags).flatMap(([name, value]) => {
    const flag = name.replaceAll('_', '-');
    if (value === null || value === undefined) return [];
    if (typeof value === 'boolean') return [value ? `--${flag}` : `--no-${flag}`];
    if (Array.isArray(value)) return [`--${flag}`, ...value.map(wordOf)];
    const word = wordOf(value);
    // A value that begins with a dash would read as a flag of its own.
    return word.startsWith('-') ? [`--${flag}=${word}`] : [`--${flag}`, word];
  });
}

function wordOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
