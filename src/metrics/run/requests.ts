import type { RunMetric } from '../metric.ts';
import { perSecond } from '../run-figures.ts';

export const completed: RunMetric = {
  kind: 'run',
  key: 'completed',
  label: 'Successful requests',
  title: 'Successful requests',
  unit: 'count',
  modality: 'any',
  better: 'higher',
  doc: 'Measured requests that ended well: a good status, no error in the stream, and output.',
  source: '`vllm bench serve`; streamed errors by vLLM PR #57519',
  of: (run) => run.completed,
};

export const failed: RunMetric = {
  kind: 'run',
  key: 'failed',
  label: 'Failed requests',
  title: 'Failed requests',
  unit: 'count',
  modality: 'any',
  better: 'lower',
  doc: 'Measured requests that failed. They enter no other metric but `max_concurrent_requests_exact`. Requests aborted by the user are counted apart.',
  source: '`vllm bench serve`; vLLM PR #26478',
  of: (run) => run.failed,
};

export const aborted: RunMetric = {
  kind: 'run',
  key: 'aborted',
  label: 'Aborted requests',
  title: 'Aborted requests',
  unit: 'count',
  modality: 'any',
  better: 'lower',
  doc: 'Measured requests that the user or the end of the run stopped.',
  source: 'omnimeter',
  of: (run) => run.aborted,
};

export const keptRequests: RunMetric = {
  kind: 'run',
  key: 'kept_requests',
  label: 'Kept from an earlier run',
  title: 'Kept requests',
  unit: 'count',
  modality: 'any',
  better: 'neither',
  doc: 'Measured requests that an earlier run of the same command had finished before it was cut off; they count like the others. The time between the two runs is left out, so that the duration is that of the parts. `null` where there was no such run.',
  source: 'omnimeter',
  of: (run) => (run.kept > 0 ? run.kept : null),
};

export const duration: RunMetric = {
  kind: 'run',
  key: 'duration',
  label: 'Benchmark duration (s)',
  title: 'Benchmark duration',
  unit: 's',
  modality: 'any',
  better: 'neither',
  doc: 'From just before the first arrival until the last measured request and the probe loop have ended.',
  source: '`vllm bench serve`',
  of: (run) => run.durationS,
};

export const requestThroughput: RunMetric = {
  kind: 'run',
  key: 'request_throughput',
  label: 'Request throughput (req/s)',
  title: 'Request throughput',
  unit: 'requests/s',
  modality: 'any',
  better: 'higher',
  doc: 'Successful requests over the duration.',
  source: '`vllm bench serve`',
  of: (run) => perSecond(run.completed, run),
};

export const requestGoodput: RunMetric = {
  kind: 'run',
  key: 'request_goodput',
  label: 'Request goodput (req/s)',
  title: 'Request goodput',
  unit: 'requests/s',
  modality: 'any',
  better: 'higher',
  doc: 'Successful requests that meet every objective of `--goodput` (value ≤ limit) over the duration. An unobserved value misses its objective, except TPOT of replies of one token. `null` without objectives.',
  source: '`vllm bench serve`; vLLM PR #9338',
  of: (run) => perSecond(run.good, run),
};
