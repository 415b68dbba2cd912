import { z } from 'zod';
import { diffusionShape } from './diffusion.ts';
import { finishReasons, samplingShape, stageSamplingSchema, streamOptionsSchema } from './sampling.ts';
import { replyMetricsSchema } from './stage-metrics.ts';
import { usageSchema } from './usage.ts';

const mediaUrlSchema = z.looseObject({ url: z.string().min(1) });

/** One part of a message's content. */
export const contentPartSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('image_url'), image_url: mediaUrlSchema }),
  z.looseObject({ type: z.literal('audio_url'), audio_url: mediaUrlSchema }),
  z.looseObject({ type: z.literal('video_url'), video_url: mediaUrlSchema }),
  z.looseObject({
    type: z.literal('input_audio'),
    input_audio: z.looseObject({ data: z.string().min(1), format: z.string().optional() }),
  }),
]);

export type ContentPart = z.infer<typeof contentPartSchema>;

export const chatMessageSchema = z.looseObject({
  role: z.string().min(1),
  content: z.union([z.string(), z.array(contentPartSchema)]).nullish(),
});
export type ChatMessage = z.infer<typeof chatMessageSchema>;

/** Fields that may stand at the root of a chat request or inside `extra_body`. */
export const chatExtensionShape = {
  /** Output modalities; absent = all that the pipeline has. */
  modalities: z.array(z.string()).min(1).nullish(),
  audio: z.looseObject({ format: z.string().nullish(), voice: z.unknown().optional() }).nullish(),
  sampling_params_list: z.array(stageSamplingSchema.nullable()).nullish(),
  /** Truthy: true, 1, "1", "true", "yes", "on". */
  return_stage_metrics: z.union([z.boolean(), z.number(), z.string()]).nullish(),
  /** Codec frames in the first audio chunk. */
  initial_codec_chunk_frames: z.number().int().min(1).nullish(),
  /** Of images that the chat asks for. */
  size: z.string().nullish(),
  width: z.number().int().min(1).nullish(),
  height: z.number().int().min(1).nullish(),
  num_outputs_per_prompt: z.number().int().min(1).max(10).nullish(),
  cfg_scale: z.number().min(0).max(20).nullish(),
  negative_prompt: diffusionShape.negative_prompt,
  num_inference_steps: diffusionShape.num_inference_steps,
  guidance_scale: diffusionShape.guidance_scale,
  true_cfg_scale: diffusionShape.true_cfg_scale,
};

const toolSchema = z.looseObject({
  type: z.string(),
  function: z
    .looseObject({ name: z.string().min(1), parameters: z.record(z.string(), z.unknown()).nullish() })
    .optional(),
});

/** `POST /v1/chat/completions`; fields that are not listed are accepted and left unread. */
export const chatRequestSchema = z.looseObject({
  ...samplingShape,
  ...chatExtensionShape,
  model: z.string().nullish(),
  messages: z.array(chatMessageSchema).min(1),
  /** Wins over `max_tokens`. */
  max_completion_tokens: z.number().int().min(1).nullish(),
  n: z.number().int().min(1).nullish(),
  /** Taken; simulated models call one where `tool_choice` insists on it. */
  tools: z.array(toolSchema).nullish(),
  /** `none`, `auto`, `required`, or the function to call. */
  tool_choice: z.unknown().optional(),
  stream: z.boolean().nullish(),
  stream_options: streamOptionsSchema.nullish(),
});
export type ChatRequest = z.infer<typeof chatRequestSchema>;

export const chatModalities = ['text', 'audio', 'image'] as const;

/** Facts of the audio in one chunk. */
export const audioMetadataSchema = z.looseObject({
  format: z.string(),
  sample_rate_hz: z.number().int(),
  /** Samples per channel in this chunk. */
  frame_count: z.number().int(),
  channels: z.number().int(),
});

/**
 * One SSE event of a streamed chat. Audio arrives as base64 in `delta.content` with `modality` "audio": a
 * complete file of this chunk alone (`wav`), or bare s16le samples (`pcm`).
 */
export const chatChunkSchema = z.looseObject({
  id: z.string(),
  object: z.literal('chat.completion.chunk'),
  created: z.number().int(),
  model: z.string(),
  choices: z.array(
    z.looseObject({
      index: z.number().int(),
      delta: z.looseObject({ role: z.string().optional(), content: z.unknown().optional() }),
      finish_reason: z.enum(finishReasons).nullish(),
      stop_reason: z.union([z.string(), z.number()]).nullish(),
      audio_metadata: audioMetadataSchema.optional(),
    }),
  ),
  usage: usageSchema.nullish(),
  modality: z.enum(chatModalities).optional(),
  metrics: replyMetricsSchema.nullish(),
});
export type ChatChunk = z.infer<typeof chatChunkSchema>;

/** A call of a function, whole. */
const toolCallSchema = z.looseObject({
  id: z.string(),
  type: z.literal('function'),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});

/** A chat reply that is not streamed: one choice per modality, each with index 0. */
export const chatResponseSchema = z.looseObject({
  id: z.string(),
  object: z.literal('chat.completion'),
  created: z.number().int(),
  model: z.string(),
  choices: z.array(
    z.looseObject({
      index: z.number().int(),
      message: z.looseObject({
        role: z.string(),
        content: z.unknown().optional(),
        tool_calls: z.array(toolCallSchema).nullish(),
        audio: z
          .looseObject({
            id: z.string(),
            /** Base64 of the whole audio in the format asked for. */
            data: z.string(),
            /** Unix seconds. */
            expires_at: z.number().int(),
            transcript: z.string(),
          })
          .nullish(),
      }),
      finish_reason: z.enum(finishReasons).nullish(),
      stop_reason: z.union([z.string(), z.number()]).nullish(),
    }),
  ),
  usage: usageSchema.nullish(),
  metrics: replyMetricsSchema.nullish(),
});
export type ChatResponse = z.infer<typeof chatResponseSchema>;
