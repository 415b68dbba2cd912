import type { JsonObject } from './flag.ts';
import { isJsonObject } from './flag-value.ts';

/**
 * A copy of `object` with `value` at `members`; objects on the way are merged, and whatever else stood there is
 * replaced. With `append`, the value's elements are added to the list that stands there.
 */
export function withMember(
  object: JsonObject,
  members: readonly string[],
  change: { readonly value: unknown; readonly append: boolean },
): JsonObject {
  const [head, ...rest] = members;
  if (head === undefined) return object;
  const present = Object.hasOwn(object, head) ? object[head] : undefined;
  // defineProperty semantics of a computed key: `__proto__` becomes a member like any other.
  return { ...object, [head]: changed(present, rest, change) };
}

function changed(
  present: unknown,
  rest: readonly string[],
  change: { readonly value: unknown; readonly append: boolean },
): unknown {
  if (rest.length > 0) return withMember(isJsonObject(present) ? present : {}, rest, change);
  if (!change.append) {
    const merges = isJsonObject(present) && isJsonObject(change.value);
    return merges ? mergeObjects(present, change.value) : change.value;
  }
  const added = Array.isArray(change.value) ? change.value : [change.value];
  if (present === undefined) return added;
  return Array.isArray(present) ? [...present, ...added] : [present, ...added];
}

/** Deep merge; on the same member the second wins. Lists are replaced. */
export function mergeObjects(first: JsonObject, second: JsonObject): JsonObject {
  let merged = first;
  for (const [key, value] of Object.entries(second))
    merged = withMember(merged, [key], { value, append: false });
  return merged;
}
