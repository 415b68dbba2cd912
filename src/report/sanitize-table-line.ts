import { sanitizeForTerminal } from './sanitize-for-terminal.ts';

/** As {@link sanitizeForTerminal}, for a line of a table: blanks that align its columns stand. */
export function sanitizeTableLine(line: string): string {
  return line
    .split(/( {2,})/)
    .map((part) => (part.trim() === '' ? part : sanitizeForTerminal(part, 1000)))
    .join('')
    .trimEnd();
}
