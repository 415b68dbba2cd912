import type { StageMetric } from '../metric.ts';
import { type StageRow, stageFigure } from '../stage-rows.ts';

// Three names for one field: what a stage first gives is a token, a chunk or a packet of audio.
const common = {
  kind: 'stage',
  unit: 'ms',
  better: 'lower',
  source: 'server field `serving_time_to_first_output_ms`; vLLM-Omni PR #3628',
  of: (row: StageRow) => stageFigure(row, 'serving_time_to_first_output_ms'),
} as const;

export const servingTtft: StageMetric = {
  ...common,
  key: 'serving_ttft',
  label: 'Serving TTFT',
  title: 'Serving Time to First Token',
  modality: 'text',
  selectedBy: ['ttft'],
  doc: 'Text stages: from the server’s accepting the HTTP request to the stage’s first token.',
};

export const servingTtfc: StageMetric = {
  ...common,
  key: 'serving_ttfc',
  label: 'Serving TTFC',
  title: 'Serving Time to First Chunk',
  modality: 'any',
  selectedBy: ['ttfc'],
  doc: 'Internal streams: from the server’s accepting the HTTP request to the stage’s first chunk.',
};

export const servingAudioTtfp: StageMetric = {
  ...common,
  key: 'serving_audio_ttfp',
  label: 'Serving AUDIO_TTFP',
  title: 'Serving Time to First Packet',
  modality: 'audio',
  selectedBy: ['audio_ttfp'],
  doc: 'Audio stages: from the server’s accepting the HTTP request to the stage’s first audio.',
};
