import { z } from 'zod';
import { promptUsageSchema } from './embeddings.ts';

const documentSchema = z.union([z.string(), z.looseObject({ text: z.string() })]);

/** `POST /rerank`, `/v1/rerank`, `/v2/rerank`. */
export const rerankRequestSchema = z.looseObject({
  model: z.string().nullish(),
  query: z.string().min(1),
  documents: z.array(documentSchema).min(1),
  /** Best documents to return; absent or 0 = all. */
  top_n: z.number().int().min(0).nullish(),
  return_documents: z.boolean().nullish(),
});

export const rerankResponseSchema = z.looseObject({
  id: z.string(),
  model: z.string(),
  usage: promptUsageSchema.partial(),
  /** Best first. */
  results: z.array(
    z.looseObject({
      index: z.number().int(),
      document: z.looseObject({ text: z.string() }).optional(),
      relevance_score: z.number(),
    }),
  ),
});
export type RerankResponse = z.infer<typeof rerankResponseSchema>;

/** `POST /score`, `/v1/score`: texts of one side weighed against those of the other. */
export const scoreRequestSchema = z.looseObject({
  model: z.string().nullish(),
  text_1: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
  text_2: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
});
