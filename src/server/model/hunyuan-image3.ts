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
 * HunyuanImage-3.0-Instruct: a language stage thinks the picture over, a diffusion stage makes it. Calibrated to the
 * published runs of image edits, whose end-to-end times follow `TTFT + (N − 1) · 49.1 ms + 17.18 s`; their token totals
 * do not, so lengths are those that give the published mean, median and 99th percentile of the end-to-end latency.
 */
export const hunyuanImage3 = pipeline({
  name: 'hunyuan_image3',
  modelIds: [
    'tencent/HunyuanImage-3.0-Instruct',
    'tencent/HunyuanImage-3.0-Instruct-Distil',
    'tencent/HunyuanImage-3.0',
  ],
  capabilities: ['chat', 'images', 'edits'],
  maxModelLen: 32768,
  mediaPartTokens: 256,
  limitMmPerPrompt: { image: 3, audio: 0, video: 0 },
  preprocessMs: 17,
  stages: [
    autoregressiveStage({
      stageId: 0,
      name: 'AR',
      finalOutputType: 'text',
      isComprehension: true,
      defaultMaxTokens: 8192,
      handOffBytesPerUnit: 8192,
      laws: {
        ttft: { baseMs: 88, perInputTokenMs: 0.245, sd: 0.008 },
        step: stepLaw(49.2, { sd: 0.025, outlierP: 0.01, outlierScale: 0.1 }),
        batchSlope: growth(0.04, 0.2),
        length: [417, 2047, 215],
      },
    }),
    diffusionStage({
      stageId: 1,
      name: 'dit',
      profileName: 'HunyuanImage3Pipeline',
      defaults: imageDefaults(50),
      laws: {
        denoise: { msPerStep: 339.6, refPixels: megapixel, exponent: 1.05, sd: 0.003 },
        encodeMs: 20,
        decodeMs: 180,
        overheadMs: 60,
        peakMemory: { baseMb: 71000, perMegapixelMb: 5000, sdMb: 0 },
      },
    }),
  ],
});
