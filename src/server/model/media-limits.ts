import { z } from 'zod';
import type { MediaLimits } from '../pipeline/pipeline-definition.ts';
import { isPlainObject } from './deep-merge.ts';

const kinds = ['image', 'audio', 'video'] as const;

const most = z.number('expected a whole number ≥ 0').int().min(0);
/** A number, or `{count}` with the sizes that a real engine reserves memory for. */
const limit = z.union([most, z.looseObject({ count: most.optional() })], 'expected a whole number ≥ 0');

/** `limit_mm_per_prompt`: most media parts of each kind in one prompt. */
export const mediaLimitsSchema = z.strictObject(
  { image: limit.optional(), audio: limit.optional(), video: limit.optional() },
  {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `there are no media of the kind "${issue.keys?.[0] ?? ''}"; known: ${kinds.join(', ')}`
        : undefined,
  },
);

/** Limits with what a source says of them laid over. */
export function mediaLimits(held: MediaLimits, given: unknown): MediaLimits {
  if (!isPlainObject(given)) return held;
  const at = (kind: (typeof kinds)[number]): number | null => {
    const value = given[kind];
    const count = isPlainObject(value) ? value.count : value;
    return typeof count === 'number' ? count : held[kind];
  };
  return { image: at('image'), audio: at('audio'), video: at('video') };
}
