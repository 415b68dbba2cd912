import type { RequestMetric } from '../metric.ts';

/** End-to-end latency. */
export const e2el: RequestMetric = {
  kind: 'request',
  key: 'e2el',
  label: 'E2EL',
  title: 'End-to-end Latency',
  unit: 'ms',
  modality: 'any',
  better: 'lower',
  selectedBy: ['e2el'],
  objective: { unit: 'ms', aliases: [] },
  doc: 'From sending the request to its end: the last output for completions and `openai-chat`, the last message for `openai-chat-omni`, the end of the body for replies without messages. Waiting in the client is not part of it.',
  source: '`vllm bench serve`; end of the latency by vLLM PR #55508',
  of: ({ startMs, endMs }) => endMs - startMs,
};
