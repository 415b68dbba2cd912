import type { StageMetric } from '../metric.ts';
import { figureList, positiveFigure } from '../snapshot-number.ts';
import { stageFigure } from '../stage-rows.ts';

const common = { kind: 'stage', unit: 'ms', modality: 'any', better: 'lower' } as const;

export const stageTpop: StageMetric = {
  ...common,
  key: 'stage_tpop',
  label: 'TPOP',
  title: 'Time per Output Chunk (excl. 1st chunk)',
  selectedBy: ['tpoc', 'tpop'],
  doc: 'Internal streams: (end − first output) / (units − 1) of requests with more than one unit.',
  source: 'server field `time_per_output_unit_ms`',
  of: (row) =>
    (positiveFigure(row.snapshot.output_unit_count) ?? 0) > 1
      ? stageFigure(row, 'time_per_output_unit_ms')
      : [],
};

export const stageIcl: StageMetric = {
  ...common,
  key: 'stage_icl',
  label: 'ICL',
  title: 'Inter-chunk Latency',
  selectedBy: ['icl'],
  doc: 'Internal streams: times between the stage’s outputs, pooled over all requests; the request’s mean where the list is absent.',
  source: 'server fields `inter_output_latencies_ms`, `inter_output_latency_ms`',
  of: (row) => {
    const list = figureList(row.snapshot.inter_output_latencies_ms);
    return list && list.length > 0 ? list : stageFigure(row, 'inter_output_latency_ms');
  },
};
