import type { Sample } from '../workloads/sample.ts';
import { messagesRequest } from './embeddings-parts.ts';
import { poolingEndpoint } from './pooling-endpoint.ts';
import { promptText } from './request-parts.ts';

/** The instructions that the model was trained with: every second picture comes with a question. */
function instructed(sample: Sample): Sample {
  if (sample.media.length === 0) return { ...sample, mediaPosition: 'first' };
  const index = Number(/(\d+)$/.exec(sample.requestId ?? '')?.[1] ?? 0);
  const prompt =
    index % 2 === 0
      ? 'Represent the given image.'
      : `Represent the given image with the following question: ${promptText(sample, 'The embeddings API')}`;
  return { ...sample, prompt, mediaPosition: 'first' };
}

export const openaiEmbeddingsVlm2vec = poolingEndpoint({
  name: 'openai-embeddings-vlm2vec',
  doc: 'Embeddings of VLM2Vec models, with the instructions they were trained with: POST /v1/embeddings with messages.',
  apiName: 'OpenAI Embeddings API',
  defaultPath: '/v1/embeddings',
  urlSuffixes: ['embeddings'],
  prompts: 'messages',
  prepare: (sample, target) => messagesRequest(instructed(sample), target),
});
