import { z } from 'zod';
import { diffusionShape, systemPromptModes } from './diffusion.ts';
import { formBoolean, formNumber } from './form-values.ts';
import { replyMetricsSchema } from './stage-metrics.ts';

const imageShape = {
  ...diffusionShape,
  prompt: z.string().min(1),
  n: formNumber(z.number().int().min(1).max(10)).nullish(),
  /** `WxH`; of an edit also `auto`, which is that of the first image. */
  size: z.string().nullish(),
  width: formNumber(z.number().int().min(1)).nullish(),
  height: formNumber(z.number().int().min(1)).nullish(),
  /** `b64_json`, or `file` for bytes. */
  response_format: z.string().nullish(),
  output_format: z.string().nullish(),
  output_compression: formNumber(z.number().int().min(0).max(100)).nullish(),
  layers: formNumber(z.number().int().min(2).max(10)).nullish(),
  resolution: z.union([z.string(), z.number()]).nullish(),
  use_system_prompt: z.enum(systemPromptModes).nullish(),
  infer_align_image_size: formBoolean.nullish(),
  vae_use_slicing: formBoolean.nullish(),
  vae_use_tiling: formBoolean.nullish(),
};

/** `POST /v1/images/generations`; fields that are not listed are accepted and left unread. */
export const imageGenerationRequestSchema = z.looseObject(imageShape);
export type ImageGenerationRequest = z.infer<typeof imageGenerationRequestSchema>;

/** Text fields of `POST /v1/images/edits`. */
export const imageEditRequestSchema = z.looseObject({
  ...imageShape,
  background: z.string().nullish(),
  /** Server-sent events, of models that write text before they draw. */
  stream: formBoolean.nullish(),
  /** Images by URL. */
  url: z.union([z.string(), z.array(z.string())]).nullish(),
});
export type ImageEditRequest = z.infer<typeof imageEditRequestSchema>;

const imageDataSchema = z.looseObject({
  b64_json: z.string().nullish(),
  url: z.string().nullish(),
  revised_prompt: z.string().nullish(),
});

/** A reply that carries images. */
export const imagesResponseSchema = z.looseObject({
  /** Unix seconds. */
  created: z.number().int(),
  data: z.array(imageDataSchema),
  output_format: z.string().optional(),
  size: z.string().optional(),
  /** What an autoregressive stage wrote before the picture. */
  cot_output: z.string().nullish(),
  metrics: replyMetricsSchema.nullish(),
});
export type ImagesResponse = z.infer<typeof imagesResponseSchema>;
