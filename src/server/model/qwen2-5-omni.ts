import { anyMedia, autoregressiveStage, growth, pipeline, stepLaw, vocoderStage } from './stage-defaults.ts';

/** Qwen2.5-Omni: as its successor, with a dense thinker and 50 codec frames a second. No published run; a likely order of size. */
export const qwen25Omni = pipeline({
  name: 'qwen2_5_omni',
  modelIds: ['Qwen/Qwen2.5-Omni-7B', 'Qwen/Qwen2.5-Omni-3B'],
  capabilities: ['chat', 'completions'],
  mediaPartTokens: 256,
  limitMmPerPrompt: anyMedia,
  asyncChunk: true,
  stages: [
    autoregressiveStage({
      stageId: 0,
      name: 'thinker',
      finalOutputType: 'text',
      isComprehension: true,
      handOffBytesPerUnit: 14336,
      laws: {
        ttft: { baseMs: 20, perInputTokenMs: 0.08, sd: 0.01 },
        step: stepLaw(9),
        batchSlope: growth(0.04, 0.1),
      },
    }),
    autoregressiveStage({
      stageId: 1,
      name: 'talker',
      inputSources: [0],
      defaultMaxTokens: 8192,
      naturalTokens: 1000,
      handOffBytesPerUnit: 4,
      laws: {
        ttft: { baseMs: 60, perInputTokenMs: 0, sd: 0.01 },
        step: stepLaw(6, { lockToUpstream: 0.25 }),
        batchSlope: growth(0.04, 0.1),
        length: [620, 1000, 2400],
      },
    }),
    vocoderStage({
      stageId: 2,
      name: 'token2wav',
      laws: {
        kind: 'generation',
        chunk: { frames: 100, initial: 50 },
        decode: { firstMs: 120, baseMs: 150, perFrameMs: 0.5 },
        speech: { sampleRateHz: 24000, samplesPerFrame: 480, trimSamples: 0 },
        batchSlope: growth(0.1, 0),
      },
    }),
  ],
});
