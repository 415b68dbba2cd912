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

  it.each([
    ['mean', { mean_ttft_ms: 150 }],
    ['median', { median_ttft_ms: 150 }],
    ['p99', { p99_ttft_ms: 990 }],
  ])('does not test TTFT where its list does not give its %s', (name, stated) => {
    // 100 ms to 300 ms: mean and median 200, P99 298.
    const good = { mean_ttft_ms: 200, median_ttft_ms: 200, p99_ttft_ms: 298, std_ttft_ms: 1 };
    const result = { duration: 1, completed: 3, ttfts: [0.1, 0.2, 0.3], ...good };
    expect(runOfResult(result, 'r')).toMatchObject({ notes: [] });
    expect(runOfResult(result, 'r')?.records?.columns.has('ttft_ms')).toBe(true);
    const run = runOfResult({ ...result, ...stated }, 'r');
    expect(run?.records).toBeNull();
    expect(run?.notes).toEqual([expect.stringContaining(`r: its lists do not give its ${name}_ttft_ms (`)]);
  });

  it('says which list has another length, and leaves it out', () => {
    const result = {
      duration: 1,
      completed: 3,
      ttfts: [0.1, 0.2, 0.3],
      e2els: [1, 2],
      output_lens: [2, 2, 2, 2],
      itls: [[0.1], [0.1], [0.1]],
      errors: ['', ''],
    };
    const run = runOfResult(result, 'r');
    expect(run?.notes).toEqual([
      expect.stringContaining('r: its list e2els has 2 entries and ttfts has 3, so e2els is left out.'),
      expect.stringContaining('r: its list output_lens has 4 entries and ttfts has 3'),
      expect.stringContaining('r: its list errors has 2 entries and ttfts has 3'),
    ]);
    expect(columns(result)).toMatchObject({ ttft_ms: [[100], [200], [300]], e2el_ms: [[200], [300], [400]] });
  });

  it('believes the length that most lists have', () => {
    const result = { duration: 1, completed: 3, ttfts: [0.1], e2els: [1, 2, 3], output_lens: [2, 2, 2] };
    expect(runOfResult(result, 'r')?.notes).toEqual([
      expect.stringContaining('its list ttfts has 1 entries and e2els has 3, so ttfts is left out.'),
    ]);
    expect(columns(result)).toEqual({ e2el_ms: [[1000], [2000], [3000]] });
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
