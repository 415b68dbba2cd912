import type { StageMetric } from '../metric.ts';
import { stageFigure } from '../stage-rows.ts';

export const stageImages: StageMetric = {
  kind: 'stage',
  key: 'stage_images',
  label: 'Total images generated',
  title: 'Total images generated',
  unit: 'count',
  modality: 'image',
  better: 'neither',
  selectedBy: [],
  doc: 'Image stages: images made for one request; the report prints their sum. Always reported.',
  source: 'server field `output_unit_count`',
  of: (row) => (row.unit === 'image' ? stageFigure(row, 'output_unit_count') : []),
};
