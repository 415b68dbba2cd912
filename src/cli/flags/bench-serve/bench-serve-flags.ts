import type { FlagTable } from '../flag.ts';
import { loadListFlags, numRunsFlag } from '../sweep/sweep-flags.ts';
import { connectionFlags } from './connection-flags.ts';
import { contentFlags } from './content-flags.ts';
import { datasetFlags } from './dataset-flags.ts';
import { foreignFlags } from './foreign-flags.ts';
import { loadFlags } from './load-flags.ts';
import { reportFlags, runFlags } from './report-flags.ts';

/** The flags of `bench serve` that it acts on. */
export const benchServeFlags = {
  ...connectionFlags,
  ...loadFlags,
  ...contentFlags,
  ...datasetFlags,
  ...reportFlags,
  ...runFlags,
  ...loadListFlags,
  ...numRunsFlag,
} as const satisfies FlagTable;

/** Everything that `bench serve` knows by name, in help's order. */
export const allBenchServeFlags: typeof benchServeFlags & FlagTable = { ...benchServeFlags, ...foreignFlags };
