import {
  autoregressiveStage,
  diffusionStage,
  growth,
  imageDefaults,
  megapixel,
  pipeline,
  stepLaw,
} from './stage-defaults.ts';

/**
 * GLM-Image: a language stage writes the tokens of the picture, a sketch first (1,281 for a million pixels, 1,025 with
 * a picture to start from), a diffusion stage makes it of them. A published online run took 38.8 s from text and
 * 34.7 s from a picture at 50 steps.
 */
export const glmImage = pipeline({
  name: 'glm_image',
  modelIds: ['zai-org/GLM-Image'],
  capabilities: ['chat', 'images', 'edits'],
  mediaPartTokens: 1024,
  limitMmPerPrompt: { image: 4, audio: 0, video: 0 },
  preprocessMs: 20,
  stages: [
    autoregressiveStage({
      stageId: 0,
      name: 'AR',
      isComprehension: true,
      defaultMaxTokens: 16384,
      handOffBytesPerUnit: 4,
      laws: {
        ttft: { baseMs: 150, perInputTokenMs: 0.1, sd: 0.02 },
        step: stepLaw(16.3, { sd: 0.02 }),
        batchSlope: growth(0.04, 0.1),
        length: { per: 'imageToken', rate: 1, min: 1 },
      },
    }),
    diffusionStage({
      stageId: 1,
      name: 'dit',
      profileName: 'GlmImagePipeline',
      defaults: imageDefaults(50),
      laws: {
        denoise: { msPerStep: 348, refPixels: megapixel, exponent: 1.1, sd: 0.003 },
        encodeMs: 40,
        decodeMs: 160,
        overheadMs: 60,
        peakMemory: { baseMb: 38000, perMegapixelMb: 4000, sdMb: 0 },
      },
    }),
  ],
});
