import { z } from 'zod';
import { diffusionShape } from './diffusion.ts';
import { formBoolean, formJson, formNumber } from './form-values.ts';
import { replyMetricsSchema } from './stage-metrics.ts';

const imageReferenceSchema = z.union([z.string().min(1), z.looseObject({})]);

/** A picture, video or sound by URL (`image_url`, `video_url`, `audio_url`) or `file_id`, or a list of such. */
export const mediaReferenceSchema = z.union([imageReferenceSchema, z.array(imageReferenceSchema).min(1)]);
export type MediaReferenceField = z.infer<typeof mediaReferenceSchema>;

/** Text fields of `POST /v1/videos`; fields that are not listed are accepted and left unread. */
export const videoRequestSchema = z.looseObject({
  ...diffusionShape,
  prompt: z.string().min(1),
  /** Whole seconds, as text. */
  seconds: z.preprocess((value) => (typeof value === 'number' ? String(value) : value), z.string()).nullish(),
  /** `WxH`; wins over width and height. */
  size: z.string().nullish(),
  width: formNumber(z.number().int().min(1)).nullish(),
  height: formNumber(z.number().int().min(1)).nullish(),
  num_frames: formNumber(z.number().int().min(1)).nullish(),
  /** Frames per second, may be fractional. */
  fps: formNumber(z.number().positive().max(1000)).nullish(),
  boundary_ratio: formNumber(z.number().min(0).max(1)).nullish(),
  generate_sound: formBoolean.nullish(),
  sound_duration: formNumber(z.number().positive()).nullish(),
  enable_frame_interpolation: formBoolean.nullish(),
  frame_interpolation_exp: formNumber(z.number().int().min(1)).nullish(),
  frame_interpolation_scale: formNumber(z.number().positive()).nullish(),
  frame_interpolation_model_path: z.string().nullish(),
  image_reference: formJson(mediaReferenceSchema).nullish(),
  video_reference: formJson(mediaReferenceSchema).nullish(),
  audio_reference: formJson(mediaReferenceSchema).nullish(),
});
export type VideoRequest = z.infer<typeof videoRequestSchema>;

export const videoStatuses = ['queued', 'in_progress', 'completed', 'failed'] as const;

/** A video job, as every route for it shows it. */
export const videoJobSchema = z.looseObject({
  id: z.string(),
  object: z.literal('video'),
  model: z.string(),
  prompt: z.string().nullish(),
  status: z.enum(videoStatuses),
  /** 0 to 100. */
  progress: z.number(),
  size: z.string().nullish(),
  /** Length asked for. */
  seconds: z.string().nullish(),
  quality: z.string().nullish(),
  /** Unix seconds. */
  created_at: z.number().int(),
  completed_at: z.number().int().nullish(),
  expires_at: z.number().int().nullish(),
  remixed_from_video_id: z.string().nullish(),
  error: z.looseObject({ code: z.union([z.string(), z.number()]), message: z.string() }).nullish(),
  media_type: z.string().optional(),
  file_name: z.string().nullish(),
  inference_time_s: z.number().nullish(),
  /** `stage_<n>_gen_ms` and `queue_wait_ms` in ms, the profiler's own keys in seconds. */
  stage_durations: z.record(z.string(), z.number()).optional(),
  peak_memory_mb: z.number().nullish(),
  fps: z.number().nullish(),
  num_frames: z.number().int().nullish(),
  duration_s: z.number().nullish(),
  metrics: replyMetricsSchema.nullish(),
});
export type VideoJobRecord = z.infer<typeof videoJobSchema>;

/** `GET /v1/videos` */
export const videoListSchema = z.looseObject({
  object: z.literal('list'),
  data: z.array(videoJobSchema),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
});
export type VideoList = z.infer<typeof videoListSchema>;
