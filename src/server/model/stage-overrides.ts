import { z } from 'zod';
import { messageOf, UsageError } from '../../foundation/errors.ts';
import type { PlainObject } from './deep-merge.ts';

const expectedForm = 'Expected stage ids with what to override, as {"0":{"step":{"nativeMs":20}}}.';

/**
 * `--stage-overrides` by stage id.
 * @param overrides JSON text or the object itself
 * @throws UsageError where it is not an object of objects under whole numbers
 */
export function readStageOverrides(overrides: string | PlainObject): Map<number, PlainObject> {
  let value: unknown = overrides;
  if (typeof overrides === 'string') {
    try {
      value = JSON.parse(overrides);
    } catch (error) {
      throw new UsageError(`--stage-overrides is not valid JSON: ${messageOf(error)}. ${expectedForm}`);
    }
  }
  const record = z.record(z.string(), z.unknown()).safeParse(value);
  if (!record.success) throw new UsageError(`--stage-overrides must be a JSON object. ${expectedForm}`);
  return new Map(
    Object.entries(record.data).map(([id, entry]) => {
      const stage = z.record(z.string(), z.unknown()).safeParse(entry);
      if (!/^\d+$/.test(id) || !stage.success)
        throw new UsageError(
          `--stage-overrides: "${id}" does not say what to override where. ${expectedForm}`,
        );
      return [Number(id), stage.data];
    }),
  );
}
