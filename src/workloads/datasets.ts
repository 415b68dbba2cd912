import { custom } from './custom.ts';
import { customAudio } from './custom-audio.ts';
import { customImage } from './custom-image.ts';
import type { Dataset } from './dataset.ts';
import { random } from './random.ts';
import { randomMm } from './random-mm.ts';
import { randomRerank } from './random-rerank.ts';
import { sharegpt } from './sharegpt.ts';
import { workloadTrace } from './workload-trace.ts';

/** Every dataset by its name on the command line. Flag values, help and docs follow from it. */
export const datasets = {
  random,
  'random-mm': randomMm,
  'random-rerank': randomRerank,
  sharegpt,
  custom,
  custom_image: customImage,
  custom_audio: customAudio,
  workload_trace: workloadTrace,
} satisfies Record<string, Dataset>;

export type DatasetName = keyof typeof datasets;
