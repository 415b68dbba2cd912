import { z } from 'zod';
import { samplingShape } from './sampling.ts';

/** One part of an input message's content. */
const inputPartSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('input_text'), text: z.string() }),
  z.looseObject({ type: z.literal('output_text'), text: z.string() }),
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({
    type: z.literal('input_image'),
    image_url: z.union([z.string().min(1), z.looseObject({ url: z.string().min(1) })]),
  }),
  z.looseObject({
    type: z.literal('input_audio'),
    input_audio: z.looseObject({ data: z.string().min(1), format: z.string().optional() }),
  }),
  z.looseObject({ type: z.literal('input_video'), video_url: z.string().min(1) }),
]);
export type ResponsesInputPart = z.infer<typeof inputPartSchema>;

/** A message, or an item of another type (a call, its output, reasoning) of an earlier turn. */
const inputItemSchema = z.looseObject({
  type: z.string().nullish(),
  role: z.string().nullish(),
  content: z.union([z.string(), z.array(inputPartSchema)]).nullish(),
});

/** A function that may be called; other tools are accepted and never called. */
export const responsesToolSchema = z.looseObject({
  type: z.string(),
  name: z.string().min(1).optional(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
});

/** `POST /v1/responses`; fields that are not listed are accepted and left unread. */
export const responsesRequestSchema = z.looseObject({
  ...samplingShape,
  model: z.string().nullish(),
  input: z.union([z.string(), z.array(inputItemSchema).min(1)]),
  instructions: z.string().nullish(),
  max_output_tokens: z.number().int().min(1).nullish(),
  tools: z.array(responsesToolSchema).nullish(),
  tool_choice: z.unknown().optional(),
  previous_response_id: z.string().nullish(),
  background: z.boolean().nullish(),
  stream: z.boolean().nullish(),
});
export type ResponsesRequest = z.infer<typeof responsesRequestSchema>;

/** Tokens of a response. */
export type ResponsesUsage = {
  readonly input_tokens: number;
  readonly input_tokens_details: { readonly cached_tokens: number };
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly reasoning_tokens: number };
  readonly total_tokens: number;
};
