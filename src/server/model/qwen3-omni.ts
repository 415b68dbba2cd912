import type {
  AutoregressiveStage,
  GenerationStage,
  PipelineDefinition,
} from '../pipeline/pipeline-definition.ts';
import { anyMedia, autoregressiveStage, growth, pipeline, stepLaw, vocoderStage } from './stage-defaults.ts';

/** Slopes from the published growth of TPOT (8.3 to 12.7 ms) and TTFT between 1 and 10 concurrent requests. */
const batchSlope = growth(0.06, 0.2);

const thinkerLaws = {
  ttft: { baseMs: 10.8, perInputTokenMs: 0.322, sd: 0.01 },
  step: stepLaw(19.41),
  batchSlope,
};
/** A hidden state and an embedding of 2,048 half-precision numbers each. */
const thinkerBytesPerToken = 8192;

const thinker = autoregressiveStage({
  stageId: 0,
  name: 'thinker',
  finalOutputType: 'text',
  isComprehension: true,
  handOffBytesPerUnit: thinkerBytesPerToken,
  laws: thinkerLaws,
});

function talkerStage(stageId: number): AutoregressiveStage {
  return autoregressiveStage({
    stageId,
    name: 'talker',
    inputSources: [stageId - 1],
    defaultMaxTokens: 4096,
    naturalTokens: 668,
    // Sixteen codebook ids of four bytes.
    handOffBytesPerUnit: 64,
    laws: {
      ttft: { baseMs: 213, perInputTokenMs: 0, sd: 0.01 },
      step: stepLaw(12.2, { lockToUpstream: 0.973 }),
      batchSlope,
      length: [414, 668, 2207],
    },
  });
}

function code2wavStage(stageId: number): GenerationStage {
  return vocoderStage({
    stageId,
    name: 'code2wav',
    laws: {
      kind: 'generation',
      chunk: { frames: 25, initial: 18 },
      decode: { firstMs: 16, baseMs: 11, perFrameMs: 0 },
      speech: { sampleRateHz: 24000, samplesPerFrame: 1920, trimSamples: 555 },
      batchSlope: growth(0.06, 0),
    },
  });
}

/**
 * Qwen3-Omni: the thinker writes text, the talker follows it with codec frames, code2wav makes sound of those.
 * Calibrated to the published three-stage run of 2,500 input and 900 output tokens on two GPUs: thinker first token
 * 816 ms and 19.41 ms a token, talker first frame 213 ms later and bound to the thinker's pace while that decodes,
 * 12.2 ms a frame after it, speech of 414, 668 and 2,207 frames.
 */
export const qwen3Omni: PipelineDefinition = pipeline({
  name: 'qwen3_omni',
  modelIds: [
    'Qwen/Qwen3-Omni-30B-A3B-Instruct',
    'Qwen/Qwen3-Omni-30B-A3B-Thinking',
    'Qwen/Qwen3-Omni-30B-A3B-Captioner',
  ],
  capabilities: ['chat', 'completions', 'realtime'],
  maxModelLen: 65536,
  // A published run of 2,500-token prompts counts 2,512: five around a message, seven that open the reply.
  chatTemplateTokens: { perMessage: 5, generationPrompt: 7 },
  mediaPartTokens: 256,
  limitMmPerPrompt: anyMedia,
  asyncChunk: true,
  duplex: { chunkPeriodMs: 1000, modelDecides: false, maxSessions: 4, idleTtlS: 300, disconnectGraceS: 30 },
  stages: [thinker, talkerStage(1), code2wavStage(2)],
});

/**
 * Qwen3-Omni with its thinker disaggregated: one stage reads prompts, another decodes from its KV cache. A
 * deployment file asks for it by name; no published run says how long the transfer takes.
 */
export const qwen3OmniPd: PipelineDefinition = pipeline({
  ...qwen3Omni,
  name: 'qwen3_omni_pd',
  modelIds: [],
  defaultDeploy: 'qwen3_omni_pd.yaml',
  stages: [
    autoregressiveStage({
      stageId: 0,
      name: 'prefill',
      role: 'prefill',
      // Keys and values of 48 layers, four heads of 128 half-precision numbers.
      handOffBytesPerUnit: 98304,
      laws: { ...thinkerLaws, kv: { readyMs: 0, finishMs: 0 } },
    }),
    autoregressiveStage({
      stageId: 1,
      name: 'decode',
      inputSources: [0],
      finalOutputType: 'text',
      isComprehension: true,
      role: 'decode',
      handOffBytesPerUnit: thinkerBytesPerToken,
      laws: { ...thinkerLaws, ttft: { baseMs: 25, perInputTokenMs: 0.004, sd: 0.01 } },
    }),
    talkerStage(2),
    code2wavStage(3),
  ],
});
