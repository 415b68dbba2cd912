import { inputRequest, truncate } from './embeddings-parts.ts';
import { poolingEndpoint } from './pooling-endpoint.ts';

export const openaiEmbeddings = poolingEndpoint({
  name: 'openai-embeddings',
  doc: 'Embeddings of texts, one or a batch a request: POST /v1/embeddings with input.',
  apiName: 'OpenAI Embeddings API',
  defaultPath: '/v1/embeddings',
  urlSuffixes: ['embeddings'],
  prompts: 'plain',
  prepare: (sample, target) => inputRequest(sample, target, 'The embeddings API', truncate),
});
