const formatters = new Map<number, Intl.NumberFormat>();

function grouped(value: number, decimals: number): string {
  let format = formatters.get(decimals);
  if (!format) {
    format = new Intl.NumberFormat('en-US', {
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
    });
    formatters.set(decimals, format);
  }
  return format.format(value);
}

/** What stands where nothing was observed. */
export const absent = '–';

const wholeUnits = new Set(['count', 'tokens', 'samples', 'px', 'bytes', 'frames']);

/** A number as people read it: three or four digits that matter, thousands apart. */
export function formatNumber(value: number | null, unit = ''): string {
  if (value === null || !Number.isFinite(value)) return absent;
  const size = Math.abs(value);
  if (wholeUnits.has(unit) && Number.isInteger(value)) return grouped(value, 0);
  if (Number.isInteger(value) && unit === '') return grouped(value, 0);
  if (size >= 1000) return grouped(value, 0);
  if (size >= 10) return grouped(value, 1);
  if (size >= 1 || size === 0) return grouped(value, 2);
  return size >= 0.001 ? grouped(value, 3) : value.toPrecision(2);
}

/** How units are written behind a number. */
export function unitLabel(unit: string): string {
  const labels: Record<string, string> = {
    ratio: '',
    count: '',
    'requests/s': 'req/s',
    'tokens/s': 'tok/s',
    'images/s': 'img/s',
    's/s': '× real time',
  };
  return labels[unit] ?? unit;
}

/** Number and unit. */
export function formatQuantity(value: number | null, unit: string): string {
  const label = unitLabel(unit);
  return value === null || label === '' ? formatNumber(value, unit) : `${formatNumber(value, unit)} ${label}`;
}

/** Every digit that is known, for titles. */
export function exactQuantity(value: number | null, unit: string): string {
  if (value === null || !Number.isFinite(value)) return 'not observed';
  const label = unitLabel(unit);
  const number = new Intl.NumberFormat('en-US', { maximumFractionDigits: 6 }).format(value);
  return label === '' ? number : `${number} ${label}`;
}

/** `P99`, `P99.9`, and names for the outermost. */
export function percentileLabel(p: number): string {
  if (p === 0) return 'Min';
  if (p === 50) return 'Median';
  return p === 100 ? 'Max' : `P${p}`;
}

/** A length of time from seconds to hours. */
export function formatDuration(seconds: number | null): string {
  if (seconds === null || !Number.isFinite(seconds)) return absent;
  if (seconds < 120) return `${formatNumber(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  const rest = Math.round(seconds - minutes * 60);
  if (minutes < 120) return `${minutes} min ${rest} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `2026-01-02 03:04:05 +01:00`; what is no such time stays as it is. */
export function formatTimestamp(iso: string): string {
  const parts = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:\d\d)$/.exec(iso);
  if (!parts) return iso;
  const zone = parts[3] === 'Z' || parts[3] === '+00:00' ? 'UTC' : parts[3];
  return `${parts[1]} ${parts[2]} ${zone}`;
}

/** One thing or several: `1 request`, `2 requests`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count, 'count')} ${count === 1 ? one : many}`;
}
