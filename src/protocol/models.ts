import { z } from 'zod';

/** One served model, as `GET /v1/models` lists it. */
export const modelCardSchema = z.looseObject({
  /** The served name; what a request's `model` must say. */
  id: z.string(),
  object: z.literal('model'),
  /** Unix seconds. */
  created: z.number().int(),
  owned_by: z.string(),
  root: z.string().nullish(),
  parent: z.string().nullish(),
  /** Prompt and reply together, tokens. */
  max_model_len: z.number().int().nullish(),
  permission: z.array(z.unknown()).optional(),
});
export type ModelCard = z.infer<typeof modelCardSchema>;

export const modelListSchema = z.looseObject({ object: z.literal('list'), data: z.array(modelCardSchema) });
export type ModelList = z.infer<typeof modelListSchema>;
