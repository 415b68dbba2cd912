import type { SamplesMetric } from '../metric.ts';

/** Inter-token latency. */
export const itl: SamplesMetric = {
  kind: 'samples',
  key: 'itl',
  label: 'ITL',
  title: 'Inter-token Latency',
  unit: 'ms',
  modality: 'text',
  better: 'lower',
  selectedBy: ['itl'],
  doc: 'Time between tokens, pooled over all replies. Completions and `openai-chat`: gaps between chunks, however many tokens each holds. `openai-chat-omni`: the gap before a chunk is split evenly over its tokens, and further tokens of the first chunk count 0; where no tokens were counted, gaps between chunks. Replies whose text came in one read have no sample unless the text stage reported its own; full-duplex sessions have those samples only, and none between responses.',
  source: '`vllm bench serve`; token split of vLLM PR #28183',
  of: ({ gapsMs }) => gapsMs,
};
