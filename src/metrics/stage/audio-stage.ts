import type { StageMetric } from '../metric.ts';
import { positiveFigure } from '../snapshot-number.ts';
import { stageFigure } from '../stage-rows.ts';

const common = { kind: 'stage', modality: 'audio', selectedBy: [] } as const;

/** The realtime protocol has a name of its own. */
const frameFields = ['audio_frames', 'audio_generated_frames'];

export const stageAudioRtf: StageMetric = {
  ...common,
  key: 'stage_audio_rtf',
  label: 'AUDIO_RTF',
  title: 'Real Time Factor',
  unit: 'ratio',
  better: 'lower',
  selectedBy: ['audio_rtf'],
  doc: 'Audio stages: the stage’s time over the length of its audio, as the server reports it or from the two figures.',
  source: 'server fields `audio_rtf`, `stage_gen_time_ms`, `audio_duration_s`',
  of: (row) => {
    const own = stageFigure(row, 'audio_rtf');
    if (own.length > 0) return own;
    const genTimeMs = positiveFigure(row.snapshot.stage_gen_time_ms);
    const durationS = positiveFigure(row.snapshot.audio_duration_s);
    return genTimeMs === null || durationS === null ? [] : [genTimeMs / 1000 / durationS];
  },
};

export const stageAudioDuration: StageMetric = {
  ...common,
  key: 'stage_audio_duration',
  label: 'AUDIO_DURATION',
  title: 'Audio Duration',
  unit: 's',
  better: 'neither',
  selectedBy: ['audio_duration'],
  doc: 'Audio stages: length of the audio made for one request; the report prints the sum too.',
  source: 'server field `audio_duration_s`',
  of: (row) => stageFigure(row, 'audio_duration_s'),
};

export const stageAudioFrames: StageMetric = {
  ...common,
  key: 'stage_audio_frames',
  label: 'Stage audio frames generated',
  title: 'Stage audio frames generated',
  unit: 'samples',
  better: 'neither',
  doc: 'Audio stages: samples per channel made for one request; the report prints their sum. Always reported.',
  source: 'server fields `audio_frames`, `audio_generated_frames`, `output_unit_count`',
  of: (row) => {
    const fields = row.unit === 'audio' ? [...frameFields, 'output_unit_count'] : frameFields;
    const reported = fields.find((field) => stageFigure(row, field).length > 0);
    return reported === undefined ? [] : stageFigure(row, reported);
  },
};
