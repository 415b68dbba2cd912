import type { Sample } from './sample.ts';

/** The sum, or `null` where a part is not known. */
export function knownSum(values: readonly (number | null)[]): number | null {
  return values.reduce(
    (sum: number | null, value) => (sum === null || value === null ? null : sum + value),
    0,
  );
}

/** Items in groups of `size`, the last as large as what is left. */
export function groupsOf<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, group) =>
    items.slice(group * size, (group + 1) * size),
  );
}

/** Single prompts as requests of several, for endpoints that take lists; nothing is generated for them. */
export function batched(samples: readonly Sample[], size: number, requestIdPrefix: string): Sample[] {
  return groupsOf(samples, size).map((group, index) => ({
    prompt: group.flatMap(({ prompt }) => prompt),
    promptTokens: knownSum(group.map(({ promptTokens }) => promptTokens)),
    expectedOutputTokens: 0,
    media: [],
    requestId: `${requestIdPrefix}${index}`,
  }));
}
