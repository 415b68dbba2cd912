import type { Sample } from '../workloads/sample.ts';
import { clipSample, inputRequest, loneMedium, poolingRequest } from './embeddings-parts.ts';
import type { PreparedRequest, Target } from './endpoint.ts';
import { poolingEndpoint } from './pooling-endpoint.ts';

const api = 'The Infinity embeddings API';

/** A text as it stands, or, without one, the address of a medium and what it is. */
function prepare(sample: Sample, target: Target): PreparedRequest {
  if (sample.prompt !== '') return inputRequest(sample, target, api, {});
  const { url, modality } = loneMedium(sample, api);
  return poolingRequest(sample, target, { model: target.model, input: url, modality });
}

export const infinityEmbeddings = poolingEndpoint({
  name: 'infinity-embeddings',
  doc: 'Embeddings of an Infinity server, of texts or of one medium: POST /embeddings.',
  apiName: 'Infinity Embeddings API',
  defaultPath: '/embeddings',
  urlSuffixes: ['embeddings'],
  prompts: 'plain',
  prepare,
});

export const infinityEmbeddingsClip = poolingEndpoint({
  ...infinityEmbeddings,
  name: 'infinity-embeddings-clip',
  doc: 'Embeddings of CLIP models on an Infinity server, a text or a picture a request: POST /embeddings.',
  prepare: (sample, target) => prepare(clipSample(sample), target),
});
