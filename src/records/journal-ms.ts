/** A time rounded to 0.1 µs, the journal's resolution, so that a stored record equals the one in memory. */
export function journalMs(timeMs: number): number {
  return Math.round(timeMs * 1e4) / 1e4;
}
