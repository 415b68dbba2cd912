import { autoregressiveStage, growth, pipeline, stepLaw, vocoderStage } from './stage-defaults.ts';

/**
 * Qwen3-TTS: speech of 12.5 codec frames a second straight from text. A published suite at a concurrency of one gives
 * a first packet after 53 ms and a real-time factor of 0.083, which is what 6 ms a frame and a first chunk of four
 * frames come to.
 */
export const qwen3Tts = pipeline({
  name: 'qwen3_tts',
  modelIds: [
    'Qwen/Qwen3-TTS-12Hz-1.7B-CustomVoice',
    'Qwen/Qwen3-TTS-12Hz-1.7B-VoiceDesign',
    'Qwen/Qwen3-TTS-12Hz-1.7B-Base',
    'Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice',
    'Qwen/Qwen3-TTS-12Hz-0.6B-Base',
  ],
  capabilities: ['speech'],
  maxModelLen: 32768,
  chatTemplateTokens: { perMessage: 0, generationPrompt: 0 },
  limitMmPerPrompt: { image: 0, audio: 1, video: 0 },
  voices: {
    voices: ['aiden', 'dylan', 'eric', 'ono_anna', 'ryan', 'serena', 'sohee', 'uncle_fu', 'vivian'],
    defaultVoice: 'vivian',
  },
  asyncChunk: true,
  stages: [
    autoregressiveStage({
      stageId: 0,
      name: 'talker',
      isComprehension: true,
      defaultMaxTokens: 2048,
      handOffBytesPerUnit: 64,
      laws: {
        ttft: { baseMs: 19, perInputTokenMs: 0.02, sd: 0.02 },
        step: stepLaw(6),
        batchSlope: growth(0.04, 0.1),
        // English has about three tokens a second of speech.
        length: { per: 'inputToken', rate: 4, min: 6 },
      },
    }),
    vocoderStage({
      stageId: 1,
      name: 'code2wav',
      laws: {
        kind: 'generation',
        chunk: { frames: 25, initial: 4 },
        decode: { firstMs: 14, baseMs: 12, perFrameMs: 0 },
        speech: { sampleRateHz: 24000, samplesPerFrame: 1920, trimSamples: 0 },
        batchSlope: growth(0.06, 0),
      },
    }),
  ],
});
