import type { RequestMetric } from '../metric.ts';

/** Time per output token. */
export const tpot: RequestMetric = {
  kind: 'request',
  key: 'tpot',
  label: 'TPOT',
  title: 'Time per Output Token (excl. 1st token)',
  unit: 'ms',
  modality: 'text',
  better: 'lower',
  selectedBy: ['tpot', 'tpop'],
  objective: { unit: 'ms', aliases: [], vacuous: ({ outputTokens }) => outputTokens <= 1 },
  doc: '(last token event − first token event) / (output tokens − 1) of one reply. Where all its text came in one read, the text stage’s own timing is taken if its token count agrees; a full-duplex session has no other timing than that, over all its responses. Not observed for replies of one token, or without measurable time between tokens.',
  source: '`vllm bench serve`; stage fallback of vLLM-Omni PR #6818',
  of: ({ outputTokens, tokenSpanMs }) =>
    outputTokens > 1 && tokenSpanMs !== null ? tokenSpanMs / (outputTokens - 1) : null,
};
