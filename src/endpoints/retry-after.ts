/**
 * How long `Retry-After` (RFC 9110, 10.2.3) asks to wait: seconds, or a date.
 * @param wallMs the time of day, ms since 1970, that a date is compared with
 * @returns ms; `null` where the header is absent or says nothing that can be read
 */
export function retryAfterMs(value: string | undefined, wallMs: number): number | null {
  if (value === undefined) return null;
  if (/^\s*\d+(\.\d+)?\s*$/.test(value)) return Number(value) * 1000;
  // A date begins with its weekday; Date.parse makes a year of a bare -5.
  const dateMs = /^\s*[a-z]{3}/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(dateMs) ? null : Math.max(dateMs - wallMs, 0);
}
