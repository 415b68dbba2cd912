import { growth, pipeline, poolingStage } from './stage-defaults.ts';

/** Models that make a vector of a text, or weigh a document against a query. A likely order of size. */
export const textPooling = pipeline({
  name: 'text_pooling',
  modelIds: [
    'Qwen/Qwen3-Embedding-0.6B',
    'Qwen/Qwen3-Embedding-4B',
    'Qwen/Qwen3-Embedding-8B',
    'Qwen/Qwen3-Reranker-0.6B',
    'BAAI/bge-m3',
    'BAAI/bge-reranker-v2-m3',
  ],
  capabilities: ['embeddings', 'rerank', 'pooling'],
  chatTemplateTokens: { perMessage: 0, generationPrompt: 0 },
  stages: [
    poolingStage({
      stageId: 0,
      name: 'pooler',
      dimensions: 1024,
      laws: {
        kind: 'pooling',
        ttft: { baseMs: 6, perInputTokenMs: 0.015, sd: 0.02 },
        batchSlope: growth(0, 0.03),
      },
    }),
  ],
});
