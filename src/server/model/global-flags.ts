import { messageOf, UsageError } from '../../foundation/errors.ts';
import { isPlainObject, type PlainObject } from './deep-merge.ts';

function wholeNumber(flag: string, value: unknown): number {
  const number = Number(value);
  if (Number.isInteger(number) && number >= 1) return number;
  throw new UsageError(`--${flag} must be a whole number ≥ 1, got ${String(value)}.`);
}

function limits(flag: string, value: unknown): PlainObject {
  let parsed: unknown = value;
  try {
    if (typeof value === 'string') parsed = JSON.parse(value);
  } catch (error) {
    throw new UsageError(`--${flag} is not valid JSON: ${messageOf(error)}. Expected e.g. {"image":4}.`);
  }
  if (isPlainObject(parsed)) return parsed;
  throw new UsageError(`--${flag} must be a JSON object, e.g. {"image":4}.`);
}

/** Engine flags that act on every stage of a simulated deployment, and what they are in a stage's settings. */
const readers: Readonly<Record<string, (flag: string, value: unknown) => unknown>> = {
  'max-num-seqs': wholeNumber,
  'max-num-batched-tokens': wholeNumber,
  'max-model-len': wholeNumber,
  'limit-mm-per-prompt': limits,
};

/**
 * Explicit flags as settings of every stage.
 * @param flags by name without dashes; names that act on nothing are passed over
 * @throws UsageError for a value that does not fit
 */
export function globalStageValues(flags: Readonly<Record<string, unknown>>): { stageValues: PlainObject } {
  const stageValues: Record<string, unknown> = {};
  for (const [flag, value] of Object.entries(flags)) {
    const read = readers[flag];
    if (read !== undefined && value !== null && value !== undefined)
      stageValues[flag.replaceAll('-', '_')] = read(flag, value);
  }
  return { stageValues };
}
