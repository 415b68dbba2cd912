import type { RequestMetric } from '../metric.ts';

const positive = (value: number | null | undefined): number | null => (value && value > 0 ? value : null);

/** Time that the server spent on a reply's images. */
export const imageGeneration: RequestMetric = {
  kind: 'request',
  key: 'image_generation',
  label: 'IMAGE_GENERATION',
  title: 'Image Generation',
  unit: 'ms',
  modality: 'image',
  better: 'lower',
  selectedBy: [],
  objective: { unit: 'ms', aliases: [] },
  doc: 'Time that the server reports for making the images of one reply. Not observed where it reports none.',
  source: '`vllm bench serve --omni`',
  of: ({ record }) => positive(record.image?.generationMs),
};

/** Mean time of one denoising step. */
export const denoiseStepLatency: RequestMetric = {
  kind: 'request',
  key: 'denoise_step_latency',
  label: 'denoise step latency',
  title: 'Denoise Step Latency',
  unit: 'ms',
  modality: 'image',
  better: 'lower',
  selectedBy: [],
  objective: { unit: 'ms', aliases: [] },
  doc: 'Image stage time over its number of steps, as the server reports it. Not observed where it reports none.',
  source: '`vllm bench serve --omni`',
  of: ({ record }) => positive(record.image?.denoiseStepMs),
};
