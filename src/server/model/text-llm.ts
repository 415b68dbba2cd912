import { autoregressiveStage, growth, pipeline, stepLaw } from './stage-defaults.ts';

const laws = {
  ttft: { baseMs: 12, perInputTokenMs: 0.06, sd: 0.01 },
  step: stepLaw(8.3),
  batchSlope: growth(0.02, 0.05),
};

/**
 * A plain text model: one autoregressive stage. Its times are those of a 7B model on one GPU, a likely order of
 * size and no published run.
 */
export const textLlm = pipeline({
  name: 'text_llm',
  modelIds: [
    'Qwen/Qwen2.5-0.5B-Instruct',
    'Qwen/Qwen2.5-1.5B-Instruct',
    'Qwen/Qwen2.5-3B-Instruct',
    'Qwen/Qwen2.5-7B-Instruct',
    'Qwen/Qwen2.5-14B-Instruct',
    'Qwen/Qwen2.5-32B-Instruct',
    'Qwen/Qwen2.5-72B-Instruct',
  ],
  modelPattern: /^Qwen(1\.5|2|2\.5|3)-\d+(\.\d+)?B(-A\d+(\.\d+)?B)?(-(Instruct|Base|Chat))?(-\d{4})?$/i,
  capabilities: ['chat', 'completions'],
  stages: [
    autoregressiveStage({
      stageId: 0,
      name: 'llm',
      finalOutputType: 'text',
      isComprehension: true,
      maxNumSeqs: 256,
      laws,
    }),
  ],
});

/** A text model that sees pictures and videos, as judges of generated media are. Times as those of {@link textLlm}. */
export const visionLlm = pipeline({
  name: 'vision_llm',
  modelIds: ['Qwen/Qwen2.5-VL-7B-Instruct', 'Qwen/Qwen2.5-VL-3B-Instruct', 'Qwen/Qwen2.5-VL-72B-Instruct'],
  modelPattern: /^Qwen(2|2\.5|3)-VL-\d+(\.\d+)?B(-A\d+(\.\d+)?B)?(-(Instruct|Thinking))?(-AWQ)?$/i,
  capabilities: ['chat', 'completions'],
  maxModelLen: 128000,
  mediaPartTokens: 1024,
  limitMmPerPrompt: { image: null, audio: 0, video: null },
  stages: [
    autoregressiveStage({
      stageId: 0,
      name: 'llm',
      finalOutputType: 'text',
      isComprehension: true,
      maxNumSeqs: 256,
      laws,
    }),
  ],
});
