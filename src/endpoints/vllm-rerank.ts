import { UsageError } from '../foundation/errors.ts';
import type { Sample } from '../workloads/sample.ts';
import { poolingRequest, truncate } from './embeddings-parts.ts';
import type { PreparedRequest, Target } from './endpoint.ts';
import { poolingEndpoint } from './pooling-endpoint.ts';
import { refuseMedia } from './request-parts.ts';

/** The first text asks, the others are ranked. */
function prepare(sample: Sample, target: Target): PreparedRequest {
  refuseMedia(sample, 'The rerank API');
  const [query, ...documents] = typeof sample.prompt === 'string' ? [] : sample.prompt;
  if (query === undefined || documents.length === 0)
    throw new UsageError(
      'The rerank API takes a query and one document at least, and the dataset made a single prompt. Use --dataset-name random-rerank.',
    );
  return poolingRequest(sample, target, { model: target.model, query, documents, ...truncate });
}

export const vllmRerank = poolingEndpoint({
  name: 'vllm-rerank',
  doc: 'Scores of documents for a query: POST /v1/rerank. The dataset must make lists of texts.',
  apiName: 'vLLM score API',
  defaultPath: '/v1/rerank',
  urlSuffixes: ['rerank'],
  prompts: 'plain',
  prepare,
});
