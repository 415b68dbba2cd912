import { messagesRequest } from './embeddings-parts.ts';
import { poolingEndpoint } from './pooling-endpoint.ts';

export const openaiEmbeddingsChat = poolingEndpoint({
  name: 'openai-embeddings-chat',
  doc: 'Embeddings of text and media together: POST /v1/embeddings with messages.',
  apiName: 'OpenAI Embeddings API',
  defaultPath: '/v1/embeddings',
  urlSuffixes: ['embeddings'],
  prompts: 'messages',
  prepare: messagesRequest,
});
