import { burstgpt } from './burstgpt.ts';
import { custom } from './custom.ts';
import { customAudio } from './custom-audio.ts';
import { customImage } from './custom-image.ts';
import type { Dataset } from './dataset.ts';
import { hf } from './hf.ts';
import { omniinteract } from './omniinteract/omniinteract.ts';
import { prefixRepetition } from './prefix-repetition.ts';
import { random } from './random.ts';
import { randomMm } from './random-mm.ts';
import { randomRerank } from './random-rerank.ts';
import { sharegpt } from './sharegpt.ts';
import { sonnet } from './sonnet.ts';
import { specBench } from './spec-bench.ts';
import { speedBench } from './speed-bench.ts';
import { timedTrace } from './timed-trace.ts';
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
  timed_trace: timedTrace,
  sonnet,
  burstgpt,
  prefix_repetition: prefixRepetition,
  spec_bench: specBench,
  speed_bench: speedBench,
  hf,
  omniinteract,
} satisfies Record<string, Dataset>;

export type DatasetName = keyof typeof datasets;
