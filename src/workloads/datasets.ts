import { custom } from './custom.ts';
import type { Dataset } from './dataset.ts';
import { random } from './random.ts';
import { sharegpt } from './sharegpt.ts';

/** Every dataset by its name on the command line. Flag values, help and docs follow from it. */
export const datasets = { random, sharegpt, custom } satisfies Record<string, Dataset>;

export type DatasetName = keyof typeof datasets;
