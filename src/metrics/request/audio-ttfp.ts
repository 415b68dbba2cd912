import type { RequestMetric } from '../metric.ts';

/** Time to first audio packet. */
export const audioTtfp: RequestMetric = {
  kind: 'request',
  key: 'audio_ttfp',
  label: 'AUDIO_TTFP',
  title: 'Time to First Packet',
  unit: 'ms',
  modality: 'audio',
  better: 'lower',
  selectedBy: ['audio_ttfp'],
  objective: { unit: 'ms', aliases: ['audio_ttft'] },
  doc: 'From sending the request to the first message with audio in it. Not observed for replies without audio or that are not streamed. A full-duplex session has the mean of its responses, as with TTFT.',
  source: '`vllm bench serve --omni`; streamed only by vLLM-Omni PR #1408',
  of: ({ record, audio, startMs }) => {
    if (record.duplex !== null) return record.duplex.metrics.ttfpMs?.mean ?? null;
    return audio ? audio.firstMs - startMs : null;
  },
};
