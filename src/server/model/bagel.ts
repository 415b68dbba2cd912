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
 * BAGEL: a language stage whose KV cache conditions the denoising of another. Calibrated to the published run of
 * 2,500-token prompts: six tokens, of which the last comes late, the cache ready some 570 ms after accept, so that
 * denoising (18.17 s for a million pixels) begins before the language stage has finished at 876 ms. Two prompts
 * without condition run beside each.
 */
export const bagel = pipeline({
  name: 'bagel',
  modelIds: ['ByteDance-Seed/BAGEL-7B-MoT'],
  capabilities: ['chat', 'images', 'edits'],
  mediaPartTokens: 256,
  limitMmPerPrompt: { image: null, audio: 0, video: 0 },
  preprocessMs: 3.1,
  stages: [
    autoregressiveStage({
      stageId: 0,
      name: 'thinker',
      finalOutputType: 'text',
      isComprehension: true,
      cfgCompanions: ['cfg_text', 'cfg_img'],
      handOffBytesPerUnit: 57344,
      laws: {
        // With the two companions, which grow it by 4 %, 126 ms for 2,508 tokens.
        ttft: { baseMs: 21.5, perInputTokenMs: 0.0399, sd: 0.01 },
        step: stepLaw(7.06, { stallMs: 318, stallAtToken: 6 }),
        batchSlope: growth(0, 0.02),
        length: [6],
        kv: { readyMs: 88, finishMs: 400 },
      },
    }),
    diffusionStage({
      stageId: 1,
      name: 'dit',
      profileName: 'BagelPipeline',
      defaults: imageDefaults(50),
      laws: {
        denoise: { msPerStep: 361.1, refPixels: megapixel, exponent: 1.05, sd: 0.0004 },
        encodeMs: 0,
        decodeMs: 120,
        overheadMs: 60,
        peakMemory: { baseMb: 42000, perMegapixelMb: 6000, sdMb: 0 },
      },
    }),
  ],
});
