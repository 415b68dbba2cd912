import type { RequestMetric } from '../metric.ts';

/** Time to first token. */
export const ttft: RequestMetric = {
  kind: 'request',
  key: 'ttft',
  label: 'TTFT',
  title: 'Time to First Token',
  unit: 'ms',
  modality: 'text',
  better: 'lower',
  selectedBy: ['ttft'],
  objective: { unit: 'ms', aliases: [] },
  doc: 'From sending the request to the first message that brought a token: text, reasoning, a tool call or a refusal. A chunk that only names the role does not count. Not observed for replies that are not streamed or hold no text.',
  source: '`vllm bench serve`; first-token rule of vLLM issues #3759 and #15106',
  of: ({ firstTokenMs, startMs }) => (firstTokenMs === null ? null : firstTokenMs - startMs),
};
