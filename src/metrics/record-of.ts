/** A record with the same keys whose values are made from the given one's. */
export function recordOf<Key extends string, From, To>(
  source: Readonly<Record<Key, From>>,
  make: (value: From, key: Key) => To,
): Record<Key, To> {
  const keys = Object.keys(source) as Key[];
  const made = Object.fromEntries(keys.map((key) => [key, make(source[key], key)]));
  return made as Record<Key, To>;
}
