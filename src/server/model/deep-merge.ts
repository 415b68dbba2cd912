export type PlainObject = Readonly<Record<string, unknown>>;

export function isPlainObject(value: unknown): value is PlainObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `over` laid over `base`: objects member by member, anything else (lists too) as a whole. */
export function deepMerge(base: PlainObject, over: PlainObject): PlainObject {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const held = merged[key];
    merged[key] = isPlainObject(held) && isPlainObject(value) ? deepMerge(held, value) : value;
  }
  return merged;
}
