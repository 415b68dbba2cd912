/** An object of unknown fields, as replies are read: leniently, field by field, without a schema in the hot path. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function asObject(value: unknown): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Whether a switch is on, as forms and JSON spell it. */
export function isTrue(value: unknown): boolean {
  return typeof value === 'string' ? /^(true|1|yes|on)$/i.test(value.trim()) : Boolean(value);
}

/** No duration, size or count that a server means is this large; what is, is nonsense and counts as not observed. */
const mostBelievable = 1e15;

export function isBelievable(number: number): boolean {
  return Math.abs(number) < mostBelievable;
}

/** The fields of an object without those that hold, or list, a figure that no server can mean. */
export function believableFields(fields: JsonObject): JsonObject {
  if (Object.values(fields).every(isSound)) return fields;
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isSound(value)));
}

function isSound(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isSound);
  return typeof value !== 'number' || isBelievable(value);
}

/**
 * A figure > 0, or `null`. Servers send numbers, numeric strings and lists of them (the first that fits counts);
 * booleans are not figures.
 */
export function positiveNumber(value: unknown): number | null {
  if (Array.isArray(value)) {
    for (const item of value) {
      const found = positiveNumber(item);
      if (found !== null) return found;
    }
    return null;
  }
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && number > 0 && isBelievable(number) ? number : null;
}

/** As {@link positiveNumber}, cut to a whole number. */
export function positiveInteger(value: unknown): number | null {
  const number = positiveNumber(value);
  const whole = number === null ? 0 : Math.trunc(number);
  return whole > 0 ? whole : null;
}
