import { additions } from './result-additions.ts';
import { aggregate, type EntrySource, perRequestMetric } from './result-entries.ts';
import { errors, inputLens, probeKeys, rpsChangeEvents, selectedStatistics, setup } from './result-parts.ts';

/** The result of a run of vectors or scores, with `--omni` or without: nothing is generated. */
export const poolingResult: readonly EntrySource[] = [
  setup,
  aggregate('duration'),
  aggregate('completed'),
  aggregate('failed'),
  aggregate('total_input_tokens'),
  aggregate('request_throughput'),
  aggregate('request_goodput'),
  aggregate('total_token_throughput'),
  inputLens,
  errors,
  probeKeys,
  rpsChangeEvents,
  selectedStatistics,
  perRequestMetric('latencies', 'e2el'),
  perRequestMetric('queue_times', 'client_queue_time'),
  ...additions,
];
