import { diffusionStage, imageDefaults, megapixel, noMedia, pipeline } from './stage-defaults.ts';

/** Prompts of models that only denoise are not rendered by a chat template. */
const noTemplate = { perMessage: 0, generationPrompt: 0 };

/** Qwen-Image, calibrated to the published run of 1024 × 1024 pixels and 20 steps: 2,732 ms, 58,832 MB. */
export const qwenImage = pipeline({
  name: 'qwen_image',
  modelIds: ['Qwen/Qwen-Image', 'Qwen/Qwen-Image-2512'],
  capabilities: ['chat', 'images'],
  chatTemplateTokens: noTemplate,
  stages: [
    diffusionStage({
      stageId: 0,
      name: 'diffusion',
      profileName: 'QwenImagePipeline',
      defaults: imageDefaults(50),
      laws: {
        denoise: { msPerStep: 134, refPixels: megapixel, exponent: 1.05, sd: 0.0004 },
        encodeMs: 12,
        decodeMs: 40,
        overheadMs: 50,
        peakMemory: { baseMb: 58832, perMegapixelMb: 3000, sdMb: 0 },
      },
    }),
  ],
});

/**
 * Qwen-Image-Edit with two pictures: 512 × 512 pixels and 20 steps in 14.74 s and 56.3 GB, 1536 × 1536 and 35 steps
 * in 57.0 s and 66.0 GB, as published. The pictures that it starts from weigh more than the one that it makes, so
 * that steps grow slowly with its size.
 */
export const qwenImageEdit = pipeline({
  name: 'qwen_image_edit',
  modelIds: ['Qwen/Qwen-Image-Edit', 'Qwen/Qwen-Image-Edit-2509', 'Qwen/Qwen-Image-Edit-2511'],
  capabilities: ['chat', 'edits'],
  chatTemplateTokens: noTemplate,
  mediaPartTokens: 0,
  limitMmPerPrompt: { image: 4, audio: 0, video: 0 },
  stages: [
    diffusionStage({
      stageId: 0,
      name: 'diffusion',
      profileName: 'QwenImageEditPlusPipeline',
      defaults: imageDefaults(40),
      laws: {
        denoise: { msPerStep: 1213, refPixels: megapixel, exponent: 0.361, sd: 0.002 },
        encodeMs: 25,
        decodeMs: 40,
        overheadMs: 50,
        peakMemory: { baseMb: 59940, perMegapixelMb: 4625, sdMb: 0 },
      },
    }),
  ],
});

/** Z-Image-Turbo: few steps, no guidance. No published run; a likely order of size. */
export const zImageTurbo = pipeline({
  name: 'z_image_turbo',
  modelIds: ['Tongyi-MAI/Z-Image-Turbo'],
  capabilities: ['chat', 'images'],
  chatTemplateTokens: noTemplate,
  limitMmPerPrompt: noMedia,
  stages: [
    diffusionStage({
      stageId: 0,
      name: 'diffusion',
      profileName: 'ZImagePipeline',
      defaults: imageDefaults(9),
      laws: {
        denoise: { msPerStep: 85, refPixels: megapixel, exponent: 1.05, sd: 0.002 },
        encodeMs: 10,
        decodeMs: 35,
        overheadMs: 50,
        peakMemory: { baseMb: 21500, perMegapixelMb: 2500, sdMb: 0 },
      },
    }),
  ],
});
