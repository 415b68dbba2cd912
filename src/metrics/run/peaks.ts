import type { RunMetric } from '../metric.ts';

export const maxOutputTokensPerS: RunMetric = {
  kind: 'run',
  key: 'max_output_tokens_per_s',
  label: 'Peak output token throughput (tok/s)',
  title: 'Peak output token throughput',
  unit: 'tokens/s',
  modality: 'text',
  better: 'higher',
  doc: 'The most token events in one of the whole seconds counted from the first start, one event per ITL sample, so that a chunk of many tokens may count once. `peak_output_tokens_per_s_exact` has no such limits.',
  source: '`vllm bench serve`',
  of: (run) => run.peaks.tokensPerS,
};

export const peakOutputTokensPerSExact: RunMetric = {
  kind: 'run',
  key: 'peak_output_tokens_per_s_exact',
  label: 'Peak output tokens in any second',
  title: 'Exact peak output token throughput',
  unit: 'tokens/s',
  modality: 'text',
  better: 'higher',
  doc: 'The most tokens that arrived within any one second, each message weighing its tokens (the reply’s total shared among its chunks where they were not counted). The second may begin at any millisecond. Only in the JSON.',
  source: 'vLLM PRs #35471 and #46652',
  of: (run) => run.peaks.tokensPerSExact,
};

export const maxConcurrentRequests: RunMetric = {
  kind: 'run',
  key: 'max_concurrent_requests',
  label: 'Peak concurrent requests',
  title: 'Peak concurrent requests',
  unit: 'count',
  modality: 'any',
  better: 'neither',
  doc: 'The most successful requests that touch one of the whole seconds counted from the first start, both ends included: requests one after the other show 2. `max_concurrent_requests_exact` does not.',
  source: '`vllm bench serve`',
  of: (run) => run.peaks.concurrent,
};

export const maxConcurrentRequestsExact: RunMetric = {
  kind: 'run',
  key: 'max_concurrent_requests_exact',
  label: 'Requests in flight at once',
  title: 'Exact peak concurrent requests',
  unit: 'count',
  modality: 'any',
  better: 'neither',
  doc: 'The most measured requests in flight at one moment, failed ones included, from first send to last end; one that ends as another starts has ended. Never above `--max-concurrency`. Only in the JSON.',
  source: 'vLLM issue #56653',
  of: (run) => run.peaks.concurrentExact,
};

export const coalescedEvents: RunMetric = {
  kind: 'run',
  key: 'client_coalesced_events',
  label: 'Messages that shared a read',
  title: 'Coalesced messages',
  unit: 'count',
  modality: 'any',
  better: 'neither',
  doc: 'Messages that arrived in the same network read as the one before them and so share its time; many mean that server or network bundle what ITL would tell apart. Only in the JSON.',
  source: 'omnimeter',
  of: (run) => run.coalescedEvents,
};
