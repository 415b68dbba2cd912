import { expect, test } from 'vitest';
import { qwen3Omni } from './model/qwen3-omni.ts';
import { faultsOf } from './serve-context.ts';

test.each(['dead-replica:9', 'slow-stage:3:2'])(
  'a fault of a stage that there is not is refused: %s',
  (fault) => {
    expect(() => faultsOf({ faults: ['reset', fault], seed: 0 }, qwen3Omni)).toThrow(
      new RegExp(
        `^--fault ${fault}: qwen3_omni has no stage [93]; its stages are 0 \\(thinker\\), 1 \\(talker\\), 2 `,
      ),
    );
  },
);

test('a fault of a stage that there is is taken', () => {
  expect(faultsOf({ faults: ['slow-stage:2:3'], seed: 0 }, qwen3Omni).next(null)?.kind).toBe('slow-stage');
});
