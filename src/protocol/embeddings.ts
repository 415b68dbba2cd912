import { z } from 'zod';
import { chatMessageSchema } from './chat-completions.ts';

const tokenIds = z.array(z.number().int().nonnegative()).min(1);

/** `POST /v1/embeddings` and `/pooling`; fields that are not listed are accepted and left unread. */
export const embeddingRequestSchema = z.looseObject({
  model: z.string().nullish(),
  /** A text, the token ids of one, or a list of either; unless there are messages. */
  input: z
    .union([z.string().min(1), z.array(z.string().min(1)).min(1), tokenIds, z.array(tokenIds).min(1)])
    .nullish(),
  /** One input, as a chat: texts and media together. */
  messages: z.array(chatMessageSchema).min(1).nullish(),
  /** `float`, or `base64` of 32-bit little-endian numbers. */
  encoding_format: z.enum(['float', 'base64']).nullish(),
  /** What `input` is the URL of; absent = it is text. */
  modality: z.enum(['text', 'image', 'audio', 'video']).nullish(),
  dimensions: z.number().int().min(1).nullish(),
  user: z.string().nullish(),
});
export type EmbeddingRequest = z.infer<typeof embeddingRequestSchema>;

/** `usage` of what reads and writes nothing. */
export const promptUsageSchema = z.looseObject({
  prompt_tokens: z.number().int(),
  total_tokens: z.number().int(),
});

export const embeddingResponseSchema = z.looseObject({
  object: z.literal('list'),
  model: z.string(),
  data: z.array(
    z.looseObject({
      object: z.literal('embedding'),
      index: z.number().int(),
      embedding: z.union([z.array(z.number()), z.string()]),
    }),
  ),
  usage: promptUsageSchema,
});
export type EmbeddingResponse = z.infer<typeof embeddingResponseSchema>;
