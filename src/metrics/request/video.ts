import type { RequestMetric } from '../metric.ts';

/** Time that the server spent on a video. */
export const videoGeneration: RequestMetric = {
  kind: 'request',
  key: 'video_generation',
  label: 'VIDEO_GENERATION',
  title: 'Video Generation',
  unit: 'ms',
  modality: 'video',
  better: 'lower',
  selectedBy: [],
  objective: { unit: 'ms', aliases: [] },
  doc: 'Time that the server reports for making the video. Not observed where it reports none.',
  source: '`vllm bench serve --omni`',
  of: ({ record }) => {
    const generationMs = record.video?.generationMs ?? 0;
    return generationMs > 0 ? generationMs : null;
  },
};

/** Real-time factor of a video. */
export const videoRtf: RequestMetric = {
  kind: 'request',
  key: 'video_rtf',
  label: 'VIDEO_RTF',
  title: 'Video RTF',
  unit: 'ratio',
  modality: 'video',
  better: 'lower',
  selectedBy: [],
  objective: { unit: 'ratio', aliases: [] },
  doc: 'Generation time that the server reports over the length of the video; the latency, polling included, only where it reports none. Not observed where the length is not known.',
  source: 'vLLM-Omni PR #4728',
  of: (request) => {
    const durationS = request.record.video?.durationS ?? 0;
    if (durationS <= 0) return null;
    const generationMs = videoGeneration.of(request) ?? request.endMs - request.startMs;
    return generationMs / 1000 / durationS;
  },
};
