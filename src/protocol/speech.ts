import { z } from 'zod';
import { samplingShape } from './sampling.ts';

export const speechFormats = ['wav', 'mp3', 'flac', 'pcm', 'opus', 'aac'] as const;
export const speechTasks = ['CustomVoice', 'VoiceDesign', 'Base'] as const;
export const speechLanguages = [
  'Auto',
  'Chinese',
  'English',
  'Japanese',
  'Korean',
  'German',
  'French',
  'Russian',
  'Portuguese',
  'Spanish',
  'Italian',
] as const;

const speechShape = {
  model: z.string().nullish(),
  /** A name, or what OpenAI calls a custom voice: an object with its id. */
  voice: z.union([z.string(), z.looseObject({ id: z.string() })]).nullish(),
  response_format: z.enum(speechFormats).nullish(),
  speed: z.number().min(0.25).max(4).nullish(),
  task_type: z.enum(speechTasks).nullish(),
  language: z.enum(speechLanguages).nullish(),
  instructions: z.string().nullish(),
  max_new_tokens: z.number().int().min(1).nullish(),
  /** Codec frames in the first chunk of sound. */
  initial_codec_chunk_frames: z.number().int().min(1).nullish(),
  non_streaming_mode: z.boolean().nullish(),
  /** Voice to clone: a data:, http(s): or file: URL. */
  ref_audio: z.string().nullish(),
  ref_text: z.string().nullish(),
  x_vector_only_mode: z.boolean().nullish(),
  temperature: samplingShape.temperature,
  top_p: samplingShape.top_p,
  top_k: samplingShape.top_k,
  seed: samplingShape.seed,
  ignore_eos: samplingShape.ignore_eos,
};

/** `POST /v1/audio/speech`; fields that are not listed are accepted and left unread. */
export const speechRequestSchema = z.looseObject({
  ...speechShape,
  input: z.string().min(1),
  /** `speech.audio.*` events, unless `stream_format` says otherwise. */
  stream: z.boolean().nullish(),
  /** `audio` = bare bytes as they are made, `sse` = events. */
  stream_format: z.enum(['audio', 'sse']).nullish(),
});
export type SpeechRequest = z.infer<typeof speechRequestSchema>;

/** `session.config` of the speech WebSocket: fields of a speech request but its text. */
export const speechSessionSchema = z.looseObject({
  ...speechShape,
  /** Send audio while it is made; otherwise each sentence as one file. */
  stream_audio: z.boolean().nullish(),
});
export type SpeechSession = z.infer<typeof speechSessionSchema>;

/** `usage` of speech: codec frames are its audio tokens. */
export const speechUsageSchema = z.looseObject({
  input_tokens: z.number().int(),
  output_tokens: z.number().int(),
  total_tokens: z.number().int(),
  input_token_details: z.looseObject({ text_tokens: z.number().int(), audio_tokens: z.number().int() }),
});
export type SpeechUsage = z.infer<typeof speechUsageSchema>;
