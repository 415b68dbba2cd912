import { z } from 'zod';
import { finishReasons, samplingShape, streamOptionsSchema } from './sampling.ts';
import { usageSchema } from './usage.ts';

/** `POST /v1/completions`; fields that are not listed are accepted and left unread. */
export const completionRequestSchema = z.looseObject({
  ...samplingShape,
  model: z.string().nullish(),
  /** A text, a list of texts, the token ids of one text, or a list of such. */
  prompt: z.union([
    z.string(),
    z.array(z.string()).min(1),
    z.array(z.number().int().nonnegative()).min(1),
    z.array(z.array(z.number().int().nonnegative()).min(1)).min(1),
  ]),
  n: z.number().int().min(1).nullish(),
  best_of: z.number().int().min(1).nullish(),
  echo: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  stream_options: streamOptionsSchema.nullish(),
});
export type CompletionRequest = z.infer<typeof completionRequestSchema>;

/** A reply, or one SSE event of a streamed reply: both have this form. */
export const completionResponseSchema = z.looseObject({
  id: z.string(),
  object: z.literal('text_completion'),
  created: z.number().int(),
  model: z.string(),
  choices: z.array(
    z.looseObject({
      index: z.number().int(),
      text: z.string(),
      logprobs: z.unknown(),
      finish_reason: z.enum(finishReasons).nullish(),
      stop_reason: z.union([z.string(), z.number()]).nullish(),
    }),
  ),
  usage: usageSchema.nullish(),
});
export type CompletionResponse = z.infer<typeof completionResponseSchema>;
