import { inputRequest, truncate } from './embeddings-parts.ts';
import { poolingEndpoint } from './pooling-endpoint.ts';

export const vllmPooling = poolingEndpoint({
  name: 'vllm-pooling',
  doc: 'Pooled outputs of any model, e.g. rewards or token classes: POST /pooling.',
  apiName: 'vLLM Pooling API',
  defaultPath: '/pooling',
  urlSuffixes: ['pooling'],
  prompts: 'plain',
  prepare: (sample, target) => inputRequest(sample, target, 'The pooling API', truncate),
});
