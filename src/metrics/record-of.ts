/** The keys of a record whose type lists them all. */
export function keysOf<Key extends string>(source: Readonly<Record<Key, unknown>>): Key[] {
  // Records of the catalogue are literals: they have no keys beside those of their type.
  return Object.keys(source) as Key[];
}

/** A record with the same keys whose values are made from the given one's. */
export function recordOf<Key extends string, From, To>(
  source: Readonly<Record<Key, From>>,
  make: (value: From, key: Key) => To,
): Record<Key, To> {
  const made = Object.fromEntries(keysOf(source).map((key) => [key, make(source[key], key)]));
  return made as Record<Key, To>;
}
