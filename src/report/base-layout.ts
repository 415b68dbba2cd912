import type { RunSummary } from '../metrics/summary.ts';
import type { ServingItem } from './layout.ts';

const generates = ({ facts }: RunSummary): boolean => facts.endpoint.output !== 'pooling';

const tokensCounted = (summary: RunSummary): boolean =>
  summary.tokensCounted || (!generates(summary) && (summary.run.total_input_tokens ?? 0) > 0);

const outputCounted = (summary: RunSummary): boolean => generates(summary) && tokensCounted(summary);

/** `bench serve` without `--omni`. */
export const baseLayout: readonly ServingItem[] = [
  { kind: 'title', text: ' Serving Benchmark Result ' },
  { kind: 'row', label: 'Successful requests:', metric: 'completed', format: 'integer' },
  { kind: 'row', label: 'Failed requests:', metric: 'failed', format: 'integer' },
  { kind: 'setting', label: 'Maximum request concurrency:', setting: 'maxConcurrency', format: 'integer' },
  { kind: 'setting', label: 'Request rate configured (RPS):', setting: 'requestRate', format: 'fixed' },
  { kind: 'row', label: 'Benchmark duration (s):', metric: 'duration', format: 'fixed' },
  { kind: 'row', label: 'Total input tokens:', metric: 'total_input_tokens', format: 'integer' },
  {
    kind: 'section',
    when: outputCounted,
    items: [
      { kind: 'row', label: 'Total generated tokens:', metric: 'total_output_tokens', format: 'integer' },
    ],
  },
  { kind: 'row', label: 'Request throughput (req/s):', metric: 'request_throughput', format: 'fixed' },
  {
    kind: 'section',
    when: ({ facts }) => Object.keys(facts.goodput).length > 0,
    items: [{ kind: 'row', label: 'Request goodput (req/s):', metric: 'request_goodput', format: 'fixed' }],
  },
  {
    kind: 'section',
    when: outputCounted,
    items: [
      {
        kind: 'row',
        label: 'Output token throughput (tok/s):',
        metric: 'output_throughput',
        format: 'fixed',
      },
      {
        kind: 'section',
        when: ({ run }) => run.max_output_tokens_per_s !== null,
        items: [
          {
            kind: 'row',
            label: 'Peak output token throughput (tok/s):',
            metric: 'max_output_tokens_per_s',
            format: 'fixed',
          },
        ],
      },
    ],
  },
  {
    kind: 'section',
    when: generates,
    items: [
      {
        kind: 'row',
        label: 'Peak concurrent requests:',
        metric: 'max_concurrent_requests',
        format: 'fixed',
      },
    ],
  },
  {
    kind: 'section',
    when: ({ run }) => run.rtfx !== null && run.rtfx > 0,
    items: [{ kind: 'row', label: 'RTFx (Inverse Real-Time Factor):', metric: 'rtfx', format: 'fixed' }],
  },
  {
    kind: 'section',
    when: tokensCounted,
    items: [
      {
        kind: 'row',
        label: 'Total token throughput (tok/s):',
        metric: 'total_token_throughput',
        format: 'fixed',
      },
    ],
  },
  {
    kind: 'probe',
    title: 'Probe Requests',
    rows: [
      { label: 'Probe requests completed:', field: 'completed', format: 'integer' },
      { label: 'Probe requests failed:', field: 'failed', format: 'integer' },
      { label: 'Median probe E2EL (ms):', field: 'medianE2elMs', format: 'fixed' },
      { label: 'P99 probe E2EL (ms):', field: 'p99E2elMs', format: 'fixed' },
      { label: 'Max probe E2EL (ms):', field: 'maxE2elMs', format: 'fixed' },
    ],
  },
  { kind: 'block', metric: 'ttft', when: 'selected' },
  { kind: 'block', metric: 'tpot', when: 'selected' },
  { kind: 'block', metric: 'itl', when: 'selected' },
  { kind: 'block', metric: 'e2el', when: 'selected' },
  { kind: 'block', metric: 'client_queue_time', when: 'selected' },
  { kind: 'block', metric: 'e2el_including_client_queue', when: 'selected' },
];
