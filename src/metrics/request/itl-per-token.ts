import type { SamplesMetric } from '../metric.ts';
import { splitOverTokens, visitShared } from '../token-arrivals.ts';

const none = new Float64Array(0);

/** Inter-token latency per token, for endpoints whose ITL is the gap between chunks. */
export const itlPerToken: SamplesMetric = {
  kind: 'samples',
  key: 'itl_per_token',
  label: 'ITL per token',
  title: 'Inter-token Latency per Token',
  unit: 'ms',
  modality: 'text',
  better: 'lower',
  selectedBy: [],
  doc: 'As ITL, but always per token: the gap before a chunk is split evenly over its tokens; where chunks were not counted, the reply’s total is shared among them. Only for endpoints whose ITL is the gap between chunks, and only in the JSON.',
  source: 'vLLM PRs #35471 and #46652',
  of: ({ record, run, outputTokens, tokenSpanMs }) => {
    if (run.endpoint.itl === 'token_split' || tokenSpanMs === null) return none;
    let total = 0;
    visitShared(record.events, outputTokens, (_, tokens) => {
      total += tokens;
    });
    if (total === 0) return none;
    return splitOverTokens(total, (visit) => visitShared(record.events, outputTokens, visit)).gapsMs;
  },
};
