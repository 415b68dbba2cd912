import type { RequestMetric } from '../metric.ts';

/** Worst lag of streamed audio behind its playback. */
export const audioUnderrun: RequestMetric = {
  kind: 'request',
  key: 'audio_underrun',
  label: 'AUDIO_UNDERRUN',
  title: 'Streaming Audio Underrun',
  unit: 's',
  modality: 'audio',
  better: 'lower',
  selectedBy: ['audio_underrun'],
  objective: { unit: 'ms', aliases: [] },
  doc: 'How far the audio lagged at worst behind a playback that starts with the first chunk and never waits; 0 = never. Not observed for encoded formats, whose chunks have no known length.',
  source: 'vLLM-Omni PR #3618',
  of: ({ audio }) => audio?.continuity?.underrunS ?? null,
};
