import type { Excerpt, Fact } from './report-model.ts';

/** Rounded to µs where it is in ms: more digits are noise and a third of the page. */
export function compact(value: number): number {
  return Math.abs(value) < 1 ? Number(value.toPrecision(4)) : Math.round(value * 1000) / 1000;
}

/** @returns `null` for what is no finite number, so that the page never shows one */
export function compactOrNull(value: number | null | undefined): number | null {
  return value === null || value === undefined || !Number.isFinite(value) ? null : compact(value);
}

export function compactAll(values: Iterable<number>): number[] {
  return Array.from(values, compact);
}

/** The first characters of a text; half a character is never left. */
export function excerpt(text: string, length: number): Excerpt {
  if (text.length <= length) return { text, more: 0 };
  const shown = text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
  return { text: shown, more: text.length - shown.length };
}

/** A fact, or none where there is no value. */
export function fact(
  name: string,
  value: string | number | null | undefined,
  more: { readonly unit?: string; readonly doc?: string } = {},
): Fact[] {
  if (value === null || value === undefined || value === '') return [];
  if (typeof value === 'string') return [{ name, value: shortened(value), unit: '', doc: more.doc ?? '' }];
  const known = compactOrNull(value);
  return known === null ? [] : [{ name, value: known, unit: more.unit ?? '', doc: more.doc ?? '' }];
}

const longestValue = 2000;

function shortened(value: string): string {
  const { text, more } = excerpt(value, longestValue);
  return more > 0 ? `${text}… (${more} more characters)` : text;
}

/** At most `count` indices of `length`, spread evenly, the first and last among them. */
export function spreadIndices(length: number, count: number): number[] {
  if (length <= count) return Array.from({ length }, (_, i) => i);
  return Array.from({ length: count }, (_, i) => Math.round((i * (length - 1)) / (count - 1)));
}
