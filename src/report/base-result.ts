import { datasetResults, duplexMetrics } from './duplex-result.ts';
import { additions } from './result-additions.ts';
import { aggregate, type EntrySource, perRequestMetric } from './result-entries.ts';
import {
  errors,
  generatedTexts,
  inputLens,
  itls,
  outputLens,
  probeKeys,
  requestStageMetrics,
  rpsChangeEvents,
  selectedStatistics,
  setup,
  startTimes,
} from './result-parts.ts';

/** The result of `bench serve` without `--omni`. */
export const baseResult: readonly EntrySource[] = [
  setup,
  aggregate('duration'),
  aggregate('completed'),
  aggregate('failed'),
  aggregate('total_input_tokens'),
  aggregate('total_output_tokens'),
  aggregate('request_throughput'),
  aggregate('request_goodput'),
  aggregate('output_throughput'),
  aggregate('total_token_throughput'),
  inputLens,
  outputLens,
  perRequestMetric('ttfts', 'ttft'),
  itls,
  startTimes,
  generatedTexts,
  errors,
  aggregate('max_output_tokens_per_s'),
  aggregate('max_concurrent_requests'),
  aggregate('rtfx'),
  probeKeys,
  rpsChangeEvents,
  selectedStatistics,
  perRequestMetric('latencies', 'e2el'),
  perRequestMetric('queue_times', 'client_queue_time'),
  requestStageMetrics,
  duplexMetrics,
  datasetResults,
  ...additions,
];
