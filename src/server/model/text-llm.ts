import type { PipelineDefinition } from '../pipeline/pipeline-definition.ts';

/**
 * A plain text model: one autoregressive stage. Its times are those of a 7B model on one GPU, a likely order of
 * size and no published run.
 */
export const textLlm: PipelineDefinition = {
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
  maxModelLen: 32768,
  chatTemplateTokens: { perMessage: 5, generationPrompt: 3 },
  mediaPartTokens: null,
  capabilities: ['chat', 'completions'],
  limitMmPerPrompt: { image: 0, audio: 0, video: 0 },
  voices: null,
  stages: [
    {
      stageId: 0,
      name: 'llm',
      executionType: 'LLM_AR',
      inputSources: [],
      finalOutputType: 'text',
      isComprehension: true,
      outputUnitType: 'text',
      maxNumSeqs: 256,
      defaultMaxTokens: 2048,
      naturalTokens: 256,
      handOffBytesPerUnit: 0,
      laws: {
        kind: 'ar',
        ttft: { baseMs: 12, perInputTokenMs: 0.06, sd: 0.01 },
        step: { nativeMs: 8.3, lockToUpstream: 0, sd: 0.045, outlierP: 0.01, outlierScale: 0.5 },
        batchSlope: { step: 0.02, ttft: 0.05 },
        length: 'fromRequest',
      },
    },
  ],
};
