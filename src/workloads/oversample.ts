import { UsageError } from '../foundation/errors.ts';
import { randomStream } from '../foundation/random.ts';
import type { LoadContext } from './dataset.ts';
import type { Sample } from './sample.ts';

/** Numbers samples in their final order: `requestIdPrefix` and the running index. */
export function withRequestIds(samples: readonly Sample[], requestIdPrefix: string): Sample[] {
  return samples.map((sample, index) => ({ ...sample, requestId: `${requestIdPrefix}${index}` }));
}

/**
 * Repeats random samples, with ids of their own, until there are as many as asked for, unless `--no-oversample`.
 * @throws UsageError where two requests would share an id
 */
export function oversampled(samples: readonly Sample[], context: LoadContext): Sample[] {
  const { options, numPrompts, seed, requestIdPrefix, note } = context;
  const result = [...samples];
  const missing = numPrompts - samples.length;
  if (missing > 0 && samples.length > 0) {
    if (options.noOversample) {
      note(
        `${options.name}: ${samples.length} requests instead of ${numPrompts}, for that is all there are.`,
      );
    } else {
      const random = randomStream(seed, 'oversample');
      for (let i = 0; i < missing; i += 1) {
        const sample = samples[random.integer(0, samples.length - 1)];
        if (sample !== undefined)
          result.push({ ...sample, requestId: `${requestIdPrefix}${samples.length + i}` });
      }
      note(
        `${options.name}: ${missing} of ${numPrompts} requests repeat others, for there are only ` +
          `${samples.length}; --no-oversample makes a shorter run instead.`,
      );
    }
  }
  checkRequestIds(result);
  return result;
}

/** @throws UsageError where two requests share an id */
export function checkRequestIds(samples: readonly Sample[]): void {
  const ids = samples.flatMap(({ requestId }) => (requestId === null ? [] : [requestId]));
  if (new Set(ids).size === ids.length) return;
  throw new UsageError(
    'Duplicate request_id found in the sampled requests. Please ensure that each request_id is unique.',
  );
}
