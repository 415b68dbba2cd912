import { autoregressiveStage, growth, pipeline, stepLaw, vocoderStage } from './stage-defaults.ts';

/**
 * MiniCPM-o 4.5. Thinker and talker follow a published run of video questions (first token 59.9 ms and
 * 11.99 ms a token, first speech token 147.9 ms and 4.95 ms a token after accept); the vocoder's ten flow steps for a
 * second of sound are what its real-time factor of 0.39 to 0.49 leaves.
 */
export const miniCpmO = pipeline({
  name: 'minicpmo_4_5',
  modelIds: ['openbmb/MiniCPM-o-4_5', 'openbmb/MiniCPM-o-4.5'],
  capabilities: ['chat', 'completions', 'realtime'],
  mediaPartTokens: 64,
  limitMmPerPrompt: { image: 64, audio: null, video: null },
  asyncChunk: true,
  duplex: { chunkPeriodMs: 1000, modelDecides: true, maxSessions: 4, idleTtlS: 300, disconnectGraceS: 30 },
  stages: [
    autoregressiveStage({
      stageId: 0,
      name: 'thinker',
      finalOutputType: 'text',
      isComprehension: true,
      maxNumSeqs: 4,
      handOffBytesPerUnit: 8192,
      laws: {
        ttft: { baseMs: 20, perInputTokenMs: 0.04, sd: 0.02 },
        step: stepLaw(11.99),
        batchSlope: growth(0.06, 0.15),
      },
    }),
    autoregressiveStage({
      stageId: 1,
      name: 'talker',
      inputSources: [0],
      maxNumSeqs: 4,
      defaultMaxTokens: 4096,
      naturalTokens: 225,
      handOffBytesPerUnit: 4,
      laws: {
        ttft: { baseMs: 88, perInputTokenMs: 0, sd: 0.02 },
        step: stepLaw(4.95),
        batchSlope: growth(0.06, 0.15),
        length: [150, 225, 310],
      },
    }),
    vocoderStage({
      stageId: 2,
      name: 'token2wav',
      maxNumSeqs: 4,
      laws: {
        kind: 'generation',
        chunk: { frames: 25, initial: 25 },
        decode: { firstMs: 190, baseMs: 400, perFrameMs: 0 },
        speech: { sampleRateHz: 24000, samplesPerFrame: 960, trimSamples: 0 },
        batchSlope: growth(0.3, 0),
      },
    }),
  ],
});
