import type { PipelineDefinition } from '../pipeline/pipeline-definition.ts';

/** Noise of a decoding step: a normal of 4.5 % and one step in a hundred that takes 25 to 75 % longer. */
const stepNoise = { sd: 0.045, outlierP: 0.01, outlierScale: 0.5 };
/** Slopes from the published growth of TPOT (8.3 to 12.7 ms) and TTFT between 1 and 10 concurrent requests. */
const batchSlope = { step: 0.06, ttft: 0.2 };

/**
 * Qwen3-Omni: the thinker writes text, the talker follows it with codec frames, code2wav makes sound of those.
 * Calibrated to the published three-stage run of 2,500 input and 900 output tokens on two GPUs: thinker first token
 * 816 ms and 19.41 ms a token, talker first frame 213 ms later and bound to the thinker's pace while that decodes,
 * 12.2 ms a frame after it, speech of 414, 668 and 2,207 frames.
 */
export const qwen3Omni: PipelineDefinition = {
  name: 'qwen3_omni',
  modelIds: [
    'Qwen/Qwen3-Omni-30B-A3B-Instruct',
    'Qwen/Qwen3-Omni-30B-A3B-Thinking',
    'Qwen/Qwen3-Omni-30B-A3B-Captioner',
  ],
  modelPattern: null,
  maxModelLen: 65536,
  // A published run of 2,500-token prompts counts 2,512: five around a message, seven that open the reply.
  chatTemplateTokens: { perMessage: 5, generationPrompt: 7 },
  mediaPartTokens: 256,
  capabilities: ['chat', 'completions', 'realtime'],
  limitMmPerPrompt: { image: null, audio: null, video: null },
  voices: null,
  stages: [
    {
      stageId: 0,
      name: 'thinker',
      executionType: 'LLM_AR',
      inputSources: [],
      finalOutputType: 'text',
      isComprehension: true,
      outputUnitType: 'text',
      maxNumSeqs: 64,
      defaultMaxTokens: 2048,
      naturalTokens: 256,
      // A hidden state and an embedding of 2,048 half-precision numbers each.
      handOffBytesPerUnit: 8192,
      laws: {
        kind: 'ar',
        ttft: { baseMs: 10.8, perInputTokenMs: 0.322, sd: 0.01 },
        step: { nativeMs: 19.41, lockToUpstream: 0, ...stepNoise },
        batchSlope,
        length: 'fromRequest',
      },
    },
    {
      stageId: 1,
      name: 'talker',
      executionType: 'LLM_AR',
      inputSources: [0],
      finalOutputType: null,
      isComprehension: false,
      outputUnitType: 'stream',
      maxNumSeqs: 64,
      defaultMaxTokens: 4096,
      naturalTokens: 668,
      // Sixteen codebook ids of four bytes.
      handOffBytesPerUnit: 64,
      laws: {
        kind: 'ar',
        ttft: { baseMs: 213, perInputTokenMs: 0, sd: 0.01 },
        step: { nativeMs: 12.2, lockToUpstream: 0.973, ...stepNoise },
        batchSlope,
        length: [414, 668, 2207],
      },
    },
    {
      stageId: 2,
      name: 'code2wav',
      executionType: 'LLM_GENERATION',
      inputSources: [1],
      finalOutputType: 'audio',
      isComprehension: false,
      outputUnitType: 'audio',
      maxNumSeqs: 64,
      laws: {
        kind: 'generation',
        chunk: { frames: 25, initial: 18 },
        decode: { firstMs: 16, baseMs: 11, perFrameMs: 0 },
        speech: { sampleRateHz: 24000, samplesPerFrame: 1920, trimSamples: 555 },
        batchSlope: { step: 0.06, ttft: 0 },
      },
    },
  ],
};
