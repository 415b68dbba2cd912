import type { StageMetric } from '../metric.ts';
import { figureList } from '../snapshot-number.ts';
import { stageFigure } from '../stage-rows.ts';

const common = { kind: 'stage', unit: 'ms', modality: 'text', better: 'lower' } as const;

export const stageTtft: StageMetric = {
  ...common,
  key: 'stage_ttft',
  label: 'TTFT',
  title: 'Time to First Token',
  selectedBy: ['ttft'],
  doc: 'Text stages: the engine’s own time to first token, from the request’s entering the stage.',
  source: 'server field `vllm_ttft_ms`',
  of: (row) => stageFigure(row, 'vllm_ttft_ms'),
};

export const stageTpot: StageMetric = {
  ...common,
  key: 'stage_tpot',
  label: 'TPOT',
  title: 'Time per Output Token (excl. 1st token)',
  selectedBy: ['tpot', 'tpop'],
  doc: 'Text stages: the engine’s own mean time per token after the first, one value per request.',
  source: 'server field `vllm_tpot_ms`; labelled TPOP by early versions of the original',
  of: (row) => stageFigure(row, 'vllm_tpot_ms'),
};

export const stageItl: StageMetric = {
  ...common,
  key: 'stage_itl',
  label: 'ITL',
  title: 'Inter-token Latency',
  selectedBy: ['itl'],
  doc: 'Text stages: the engine’s own times between tokens, pooled over all requests; the request’s mean where the list is absent.',
  source: 'server fields `vllm_itls_ms`, `vllm_itl_ms`',
  of: (row) => {
    const list = figureList(row.snapshot.vllm_itls_ms);
    return list && list.length > 0 ? list : stageFigure(row, 'vllm_itl_ms');
  },
};

export const stageTokens: StageMetric = {
  ...common,
  key: 'stage_tokens',
  label: 'Stage generated tokens',
  title: 'Stage generated tokens',
  unit: 'tokens',
  better: 'neither',
  selectedBy: [],
  doc: 'Text stages: tokens that the stage generated; the report prints their sum. Always reported.',
  source: 'server field `num_tokens_out`',
  of: (row) => stageFigure(row, 'num_tokens_out'),
};
