/**
 * How long `Retry-After` (RFC 9110, 10.2.3) asks to wait: seconds, or a date.
 * @param wallMs the time of day, ms since 1970, that a date is compared with
 * @returns ms; `null` where the header is absent or says nothing that can be read
 */
export function retryAfterMs(value: string | undefined, wallMs: number): number | null {
  if (value === undefined) return null;
  if (/^\s*\d+\s*$/.test(value)) return Number(value) * 1000;
  const dateMs = Date.parse(value);
  return Number.isNaN(dateMs) ? null : Math.max(dateMs - wallMs, 0);
}
