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
  doc: 'From sending the request to the first message that brought a token: text, reasoning, a tool call or a refusal. A chunk that only names the role does not count. Not observed for replies that are not streamed or hold no text. A full-duplex session has the mean of its responses: from the start of the server’s model turn where it said so, else from `response.created`, to the first text.',
  source: '`vllm bench serve`; first-token rule of vLLM issues #3759 and #15106',
  of: ({ record, firstTokenMs, startMs }) => {
    if (record.duplex !== null) return record.duplex.metrics.ttftMs?.mean ?? null;
    return firstTokenMs === null ? null : firstTokenMs - startMs;
  },
};
