import type { StageMetric } from '../metric.ts';
import { figureList } from '../snapshot-number.ts';
import { stageFigure } from '../stage-rows.ts';

export const stageGenTime: StageMetric = {
  kind: 'stage',
  key: 'stage_gen_time',
  label: 'stage_gen_time',
  title: 'Stage Timing',
  unit: 'ms',
  modality: 'any',
  better: 'lower',
  selectedBy: [],
  doc: 'From submitting the request to the stage until the stage finished, waiting for the stage before it included. Always reported; for image and video stages as `IMAGE_GENERATION` and `VIDEO_GENERATION`.',
  source: 'server field `stage_gen_time_ms`',
  of: (row) => stageFigure(row, 'stage_gen_time_ms'),
};

export const stagePostprocess: StageMetric = {
  kind: 'stage',
  key: 'postprocess',
  label: 'postprocess',
  title: 'Stage Postprocess',
  unit: 'ms',
  modality: 'any',
  better: 'lower',
  selectedBy: [],
  doc: 'Converting the stage’s output for the next stage. Printed where any request had some; 0 is a value here, for requests that needed none.',
  source: 'server field `postprocess_time_ms`',
  of: ({ snapshot }) => figureList([snapshot.postprocess_time_ms]) ?? [],
};
