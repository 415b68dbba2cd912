import { clipSample, messagesRequest } from './embeddings-parts.ts';
import { poolingEndpoint } from './pooling-endpoint.ts';

export const openaiEmbeddingsClip = poolingEndpoint({
  name: 'openai-embeddings-clip',
  doc: 'Embeddings of CLIP models, a text or a picture a request: POST /v1/embeddings with messages.',
  apiName: 'OpenAI Embeddings API',
  defaultPath: '/v1/embeddings',
  urlSuffixes: ['embeddings'],
  prompts: 'messages',
  prepare: (sample, target) => messagesRequest(clipSample(sample), target),
});
