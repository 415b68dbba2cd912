import { describe, expect, it } from 'vitest';
import { runOfResult } from './run-of-result.ts';

const columns = (result: Record<string, unknown>) =>
  Object.fromEntries(
    [...(runOfResult(result, 'r')?.records?.columns ?? [])].map(([stem, column]) => [
      stem,
      column.map((values) => Array.from(values, (value) => Number(value.toFixed(9)))),
    ]),
  );

describe('runOfResult', () => {
  it('reads what vllm bench writes with --save-detailed', () => {
    const result = {
      completed: 2,
      failed: 1,
      duration: 3,
      mean_ttft_ms: 150,
      request_rate: Number.POSITIVE_INFINITY,
      ttfts: [0.1, 0, 0.2],
      itls: [[0.01, 0.03], [], [0.02]],
      output_lens: [3, 0, 2],
      errors: ['', 'HTTP 500', ''],
    };
    expect(columns(result)).toEqual({
      ttft_ms: [[100], [], [200]],
      itl_ms: [[10, 30], [], [20]],
      e2el_ms: [[140], [], [220]],
      tpot_ms: [[20], [], [20]],
    });
    const run = runOfResult(result, 'r');
    expect([...(run?.records?.failed ?? [])]).toEqual([0, 1, 0]);
    expect(run?.values.get('mean_ttft_ms')).toBe(150);
    expect(run?.values.has('request_rate')).toBe(false);
  });

  it('prefers stated latencies, and knows the names of SGLang', () => {
    const result = { duration: 1, mean_e2e_latency_ms: 300, p99_e2e_latency_ms: 400, latencies: [0.2, 0.4] };
    expect(columns(result)).toEqual({ e2el_ms: [[200], [400]] });
    expect(runOfResult(result, 'r')?.values.get('p99_e2el_ms')).toBe(400);
  });

  it('does not test what its lists do not give', () => {
    const result = { duration: 1, mean_e2el_ms: 500, ttfts: [0.1], itls: [[0.1]], completed: 1 };
    const run = runOfResult(result, 'r');
    expect(run?.records?.columns.has('e2el_ms')).toBe(false);
    expect(run?.notes.join()).toMatch(/do not give its mean_e2el_ms/);
  });

  it('reads listed percentiles', () => {
    const run = runOfResult(
      {
        duration: 1,
        percentiles_video_rtf: [
          [99, 0.5],
          [50, null],
        ],
      },
      'r',
    );
    expect(run?.values.get('p99_video_rtf')).toBe(0.5);
    expect(run?.values.has('p50_video_rtf')).toBe(false);
  });

  it('knows what is no result', () => {
    expect(runOfResult({ name: 'package', version: 1 }, 'r')).toBeNull();
  });
});
