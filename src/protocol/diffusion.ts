import { z } from 'zod';
import { formJson, formNumber } from './form-values.ts';

/** A system prompt that an image model brings itself. */
export const systemPromptModes = [
  'dynamic',
  'en_vanilla',
  'en_recaption',
  'en_think_recaption',
  'en_unified',
  'custom',
] as const;

/** Fields that all routes for images and videos take; in a form, numbers and objects are texts. */
export const diffusionShape = {
  model: z.string().nullish(),
  user: z.string().nullish(),
  negative_prompt: z.string().nullish(),
  system_prompt: z.string().nullish(),
  sys_type: z.string().nullish(),
  bot_task: z.string().nullish(),
  num_inference_steps: formNumber(z.number().int().min(1).max(200)).nullish(),
  guidance_scale: formNumber(z.number().min(0).max(20)).nullish(),
  guidance_scale_2: formNumber(z.number().min(0).max(20)).nullish(),
  true_cfg_scale: formNumber(z.number().min(0).max(20)).nullish(),
  flow_shift: formNumber(z.number()).nullish(),
  strength: formNumber(z.number().min(0).max(1)).nullish(),
  seed: formNumber(z.number().int()).nullish(),
  generator_device: z.string().nullish(),
  lora: formJson(z.looseObject({})).nullish(),
  extra_params: formJson(z.looseObject({})).nullish(),
  /** Truthy: true, 1, "1", "true", "yes", "on". */
  return_stage_metrics: z.union([z.boolean(), z.number(), z.string()]).nullish(),
};

/** Width and height as images and videos take them: `1024x1024`. */
export const sizePattern = /^[1-9]\d{0,5}x[1-9]\d{0,5}$/;
