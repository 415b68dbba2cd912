import { describe, expect, test } from 'vitest';
import { UsageError } from '../../foundation/errors.ts';
import { overrideStages } from './deploy-pipeline.ts';
import { qwen3Omni } from './qwen3-omni.ts';

describe('overrides', () => {
  test('replace the fields that they name, and no others', () => {
    const { pipeline, notices } = overrideStages(
      qwen3Omni,
      '{"0":{"step":{"nativeMs":20,"sd":0},"batchSlope":0,"length":900,"maxNumSeqs":256},' +
        '"1":{"length":[10,20],"batchSlope":{"ttft":0.1}},"2":{"chunk":{"initial":5}}}',
    );
    expect(notices).toEqual([]);
    const [thinker, talker, code2wav] = pipeline.stages;
    expect(thinker).toMatchObject({
      name: 'thinker',
      maxNumSeqs: 256,
      laws: {
        ttft: { baseMs: 10.8, perInputTokenMs: 0.322, sd: 0.01 },
        step: { nativeMs: 20, sd: 0, outlierP: 0.01 },
        batchSlope: { step: 0, ttft: 0 },
        length: [900],
      },
    });
    expect(talker?.laws).toMatchObject({ length: [10, 20], batchSlope: { step: 0.06, ttft: 0.1 } });
    expect(code2wav?.laws).toMatchObject({ chunk: { frames: 25, initial: 5 }, decode: { firstMs: 16 } });
  });

  test('of a real deployment are taken; those without effect are named', () => {
    const { pipeline, notices } = overrideStages(qwen3Omni, {
      0: { max_num_seqs: 8, gpu_memory_utilization: 0.8 },
    });
    expect(pipeline.stages[0]?.maxNumSeqs).toBe(8);
    expect(notices).toEqual(['--stage-overrides: no effect on simulated engines: gpu_memory_utilization.']);
  });

  test('leave the bundled pipeline as it is', () => {
    const before = JSON.stringify(qwen3Omni);
    overrideStages(qwen3Omni, { 0: { step: { nativeMs: 1 } }, 1: { length: 3 } });
    expect(JSON.stringify(qwen3Omni)).toBe(before);
  });

  test.each<[string, string | Record<string, unknown>, RegExp]>([
    ['bad JSON', '{"0":', /not valid JSON.*Expected stage ids/],
    ['a list', '[]', /must be a JSON object/],
    ['an unknown stage', { 3: {} }, /no stage "3".*0 \(thinker\), 1 \(talker\), 2 \(code2wav\)/],
    ['a stage that is no object', { 0: 5 }, /"0" does not say what to override/],
    [
      'an unknown law',
      { 0: { stepp: {} } },
      /unknown key "stepp"\. Did you mean "step"\?.*Allowed: ttft, step/,
    ],
    [
      'an unknown field of a law',
      { 0: { step: { nativMs: 3 } } },
      /stage 0 \(thinker\)\.step: unknown key "nativMs"\. Did you mean "nativeMs"\?/,
    ],
    [
      'an unknown field of a slope',
      { 0: { batchSlope: { stepp: 1 } } },
      /batchSlope: unknown key "stepp"\. Did you mean "step"\?/,
    ],
    ['a law of another kind of stage', { 2: { length: 5 } }, /stage 2 \(code2wav\): unknown key "length"/],
    ['a duration below 0', { 0: { step: { nativeMs: -1 } } }, /step\.nativeMs: .*>=0/],
    ['a length of 0', { 1: { length: 0 } }, /stage 1 \(talker\)\.length: .*>=1/],
    ['a length that is a word', { 1: { length: 'long' } }, /length: expected "fromRequest"/],
  ])('refuse %s', (_what, overrides, message) => {
    expect(() => overrideStages(qwen3Omni, overrides)).toThrow(UsageError);
    expect(() => overrideStages(qwen3Omni, overrides)).toThrow(message);
  });
});
