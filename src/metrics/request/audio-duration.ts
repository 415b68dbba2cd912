import type { RequestMetric } from '../metric.ts';

/** Length of the audio of one reply. */
export const audioDuration: RequestMetric = {
  kind: 'request',
  key: 'audio_duration',
  label: 'AUDIO_DURATION',
  title: 'Audio Duration',
  unit: 's',
  modality: 'audio',
  better: 'neither',
  selectedBy: ['audio_duration'],
  doc: 'Length of the audio of one reply: samples per channel over the rate. Not observed where there is no audio or it could not be decoded.',
  source: '`vllm bench serve --omni`',
  of: ({ record }) => {
    const durationS = record.audio?.durationS ?? null;
    return durationS !== null && durationS > 0 ? durationS : null;
  },
};
