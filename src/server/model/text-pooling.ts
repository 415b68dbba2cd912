import { anyMedia, growth, pipeline, poolingStage } from './stage-defaults.ts';

/** Models that make a vector of a text, of pictures, or of both together. A likely order of size. */
export const visionPooling = pipeline({
  name: 'vision_pooling',
  modelIds: [
    'TIGER-Lab/VLM2Vec-Full',
    'openai/clip-vit-base-patch32',
    'google/siglip-base-patch16-224',
    'Alibaba-NLP/gme-Qwen2-VL-2B-Instruct',
  ],
  capabilities: ['embeddings', 'pooling'],
  chatTemplateTokens: { perMessage: 5, generationPrompt: 3 },
  mediaPartTokens: 256,
  limitMmPerPrompt: anyMedia,
  stages: [
    poolingStage({
      stageId: 0,
      name: 'pooler',
      dimensions: 1024,
      laws: {
        kind: 'pooling',
        ttft: { baseMs: 12, perInputTokenMs: 0.03, sd: 0.02 },
        batchSlope: growth(0, 0.03),
      },
    }),
  ],
});

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
