import { formatFixed } from '../foundation/python-format.ts';
import { sanitizeForTerminal } from './sanitize-for-terminal.ts';

/** How far a run is. */
export type ProgressState = {
  /** What is counted: `Requests`, `Warm-up`, … */
  readonly label: string;
  readonly done: number;
  /** `null` = open-ended. */
  readonly total: number | null;
  readonly failed: number;
  readonly inFlight: number;
  readonly elapsedMs: number;
  /** `null` = nothing has ended yet. */
  readonly ratePerS: number | null;
  /** The last failure's message, as it came. */
  readonly lastError: string | null;
};

const longestBar = 30;

/**
 * One line to be redrawn in place.
 * @param columns width of the terminal; the line is never wider
 */
export function progressBar(state: ProgressState, columns: number): string {
  const figures = figuresOf(state);
  const label = `${sanitizeForTerminal(state.label, 30)} `;
  if (state.total === null) return cut(label + figures, columns);
  const share = state.total > 0 ? Math.min(state.done / state.total, 1) : 1;
  const percent = `${Math.floor(share * 100)}%`.padStart(4);
  // One column stays free: terminals break a line that fills the last.
  const room = columns - 1 - label.length - percent.length - figures.length - 3;
  if (room < 5) return cut(`${label}${percent} ${figures}`, columns);
  const width = Math.min(room, longestBar);
  const filled = Math.floor(share * width);
  return withError(
    `${label}${percent}|${'█'.repeat(filled)}${' '.repeat(width - filled)}| ${figures}`,
    state,
    columns,
  );
}

/** The same for a log, where lines stay. */
export function progressLine(state: ProgressState): string {
  const error = state.lastError === null ? '' : `, last error: ${sanitizeForTerminal(state.lastError, 200)}`;
  return `${sanitizeForTerminal(state.label, 30)} ${figuresOf(state)}${error}`;
}

/** `450/1000 [00:12<00:15, 35.2 req/s, 64 in flight, 2 failed]` */
function figuresOf({ done, total, failed, inFlight, elapsedMs, ratePerS }: ProgressState): string {
  const known = ratePerS !== null && ratePerS > 0 ? ratePerS : null;
  const left = total === null ? '' : `<${known === null ? '?' : clock(((total - done) / known) * 1000)}`;
  const rate = known === null ? '? req/s' : `${formatFixed(known, known < 100 ? 1 : 0)} req/s`;
  const failures = failed > 0 ? [`${failed} failed`] : [];
  const details = [`${clock(elapsedMs)}${left}`, rate, `${inFlight} in flight`, ...failures];
  return `${done}${total === null ? '' : `/${total}`} [${details.join(', ')}]`;
}

/** `mm:ss`, with hours where there are some. */
function clock(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const two = (value: number): string => String(value).padStart(2, '0');
  const minutes = Math.floor(seconds / 60);
  const [hours, rest] = [Math.floor(minutes / 60), two(seconds % 60)];
  return hours > 0 ? `${hours}:${two(minutes % 60)}:${rest}` : `${two(minutes)}:${rest}`;
}

function withError(line: string, { lastError }: ProgressState, columns: number): string {
  const room = columns - 1 - line.length - 1;
  if (lastError === null || room < 20) return line;
  const shown = sanitizeForTerminal(lastError, room);
  // Characters beyond ASCII may take two columns.
  const isNarrow = /^[ -~…]*$/.test(shown);
  return `${line} ${isNarrow ? shown : sanitizeForTerminal(lastError, Math.floor(room / 2))}`;
}

function cut(line: string, columns: number): string {
  return line.slice(0, Math.max(columns - 1, 0));
}

/** How many a second, over the last seconds. */
export class ProgressRate {
  readonly #windowMs: number;
  #seen: { readonly atMs: number; readonly done: number }[] = [];

  constructor(windowMs = 5000) {
    this.#windowMs = windowMs;
  }

  /** Takes note of a count. @returns the rate since the oldest count of the window; `null` = not known yet */
  update(atMs: number, done: number): number | null {
    this.#seen.push({ atMs, done });
    while (this.#seen.length > 2 && (this.#seen[1]?.atMs ?? atMs) <= atMs - this.#windowMs)
      this.#seen.shift();
    const oldest = this.#seen[0];
    if (!oldest || atMs <= oldest.atMs || done === 0) return null;
    return ((done - oldest.done) / (atMs - oldest.atMs)) * 1000;
  }
}
