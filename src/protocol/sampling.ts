import { z } from 'zod';

/** Sampling fields of a request; a field that is absent or null leaves the stage's own default. */
export const samplingShape = {
  temperature: z.number().min(0).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  top_k: z.number().int().min(-1).nullish(),
  min_p: z.number().min(0).max(1).nullish(),
  repetition_penalty: z.number().gt(0).nullish(),
  max_tokens: z.number().int().min(1).nullish(),
  min_tokens: z.number().int().min(0).nullish(),
  seed: z.number().int().nullish(),
  ignore_eos: z.boolean().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  stop_token_ids: z.array(z.number().int()).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
};

/** Sampling parameters of one stage, as `sampling_params_list` carries them in stage order. */
export const stageSamplingSchema = z.looseObject(samplingShape);
export type StageSampling = z.infer<typeof stageSamplingSchema>;

/** What a streamed reply says of usage. */
export const streamOptionsSchema = z.looseObject({
  /** Send a last chunk with usage and no choices. */
  include_usage: z.boolean().nullish(),
  /** Send usage on every chunk; needs `include_usage`. */
  continuous_usage_stats: z.boolean().nullish(),
});

export const finishReasons = ['stop', 'length', 'tool_calls', 'abort'] as const;
export type FinishReason = (typeof finishReasons)[number];
