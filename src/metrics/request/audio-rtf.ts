import type { RequestMetric } from '../metric.ts';

/** Real-time factor of speech. */
export const audioRtf: RequestMetric = {
  kind: 'request',
  key: 'audio_rtf',
  label: 'AUDIO_RTF',
  title: 'Real Time Factor',
  unit: 'ratio',
  modality: 'audio',
  better: 'lower',
  selectedBy: ['audio_rtf'],
  objective: { unit: 'ratio', aliases: [] },
  doc: 'From sending the request to its last audio (speech endpoints: to its end), over the length of the audio; 1 = as fast as it plays. Not observed where there is no audio or its length is not known. A full-duplex session has the mean of its responses, each from `response.created` to its last audio.',
  source: '`vllm bench serve --omni`; counted from the send since vLLM-Omni PR #1157',
  of: ({ record, run, audio, startMs, endMs }) => {
    if (record.duplex !== null) return record.duplex.metrics.rtf?.mean ?? null;
    const durationS = record.audio?.durationS ?? 0;
    if (durationS <= 0) return null;
    const lastMs = run.endpoint.output === 'speech' || !audio ? endMs : audio.lastMs;
    return (lastMs - startMs) / 1000 / durationS;
  },
};
