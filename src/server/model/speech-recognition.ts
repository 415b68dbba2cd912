import { autoregressiveStage, growth, pipeline, stepLaw } from './stage-defaults.ts';

/** Models that write down speech, three and a third tokens for each second of it. A likely order of size. */
export const speechRecognition = pipeline({
  name: 'speech_recognition',
  modelIds: [
    'Qwen/Qwen3-ASR-1.7B',
    'Qwen/Qwen3-ASR-0.6B',
    'openai/whisper-large-v3',
    'openai/whisper-large-v3-turbo',
    'openai/whisper-small',
  ],
  capabilities: ['transcriptions'],
  mediaPartTokens: 400,
  limitMmPerPrompt: { image: 0, audio: 1, video: 0 },
  stages: [
    autoregressiveStage({
      stageId: 0,
      name: 'asr',
      finalOutputType: 'text',
      isComprehension: true,
      maxNumSeqs: 256,
      laws: {
        ttft: { baseMs: 35, perInputTokenMs: 0.02, sd: 0.02 },
        step: stepLaw(5),
        batchSlope: growth(0.02, 0.05),
        length: { per: 'audioSecond', rate: 10 / 3, min: 1 },
      },
    }),
  ],
});
