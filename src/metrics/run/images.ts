import type { RunMetric } from '../metric.ts';
import { perSecond } from '../run-figures.ts';

export const totalImages: RunMetric = {
  kind: 'run',
  key: 'total_images',
  label: 'Total images generated',
  title: 'Total images generated',
  unit: 'count',
  modality: 'image',
  better: 'neither',
  doc: 'Images of successful requests.',
  source: '`vllm bench serve --omni`',
  of: (run) => run.images,
};

export const imageThroughput: RunMetric = {
  kind: 'run',
  key: 'image_throughput',
  label: 'Image throughput (img/s)',
  title: 'Image throughput',
  unit: 'images/s',
  modality: 'image',
  better: 'higher',
  doc: 'Total images over the duration.',
  source: '`vllm bench serve --omni`',
  of: (run) => perSecond(run.images, run),
};

export const averagePixelsPerImage: RunMetric = {
  kind: 'run',
  key: 'average_pixels_per_image',
  label: 'Average pixels per image',
  title: 'Average pixels per image',
  unit: 'px',
  modality: 'image',
  better: 'neither',
  doc: 'Width × height, averaged over the images whose size is known. `null` where none is.',
  source: '`vllm bench serve --omni`, which divides by all images',
  of: (run) => (run.sizedImages > 0 ? run.pixels / run.sizedImages : null),
};
