import fc from 'fast-check';
import { test } from 'vitest';

/** Says whether it holds by `expect`, or by returning `false`. */
type Law<Values extends unknown[]> = (...values: Values) => unknown;

/**
 * A test of a law over values drawn anew each time; a failure names the seed and the smallest values that break it.
 * (`@fast-check/vitest` says the same, but takes two seconds to import: as much as all else in most files.)
 */
export function property<Values extends [unknown, ...unknown[]]>(
  drawn: { readonly [Index in keyof Values]: fc.Arbitrary<Values[Index]> },
  parameters: fc.Parameters<Values> = {},
): (name: string, law: Law<Values>, timeoutMs?: number) => void {
  return (name, law, timeoutMs) => {
    const all = fc.asyncProperty<Values>(...drawn, async (...values) => (await law(...values)) !== false);
    test(name, () => fc.assert(all, parameters), timeoutMs);
  };
}
