import { expect, it } from 'vitest';
import { duplexRequestMetricsJson, duplexSessionMetricsJson } from './duplex-session-json.ts';
import { exampleSession } from './examples.suite.ts';

it('a response timed by the client has the keys of the result file, in order', () => {
  const [row] = duplexRequestMetricsJson(exampleSession({}));
  expect(Object.keys(row ?? {})).toEqual([
    'session_id',
    'request_index',
    'response_id',
    'source',
    'measurement_origin',
    'ttft_ms',
    'ttfp_ms',
    'audio_generation_ms',
    'audio_duration_ms',
    'tpot_ms',
    'rtf',
    'client_ttft_ms',
    'client_ttfp_ms',
    'stage0_tokens',
    'stage_metrics',
  ]);
  expect(row?.stage0_tokens).toEqual({
    source: 'engine_stage_metrics',
    output_token_count: 3,
    ttft_ms: 110,
    tpot_ms: 15,
    itls_ms: [14, 16],
    inter_token_interval_ms: { count: 2, mean: 15, p50: 14, p95: 16, max: 16 },
  });
});

it('server figures bring the client’s beside them', () => {
  const session = exampleSession({});
  const [first] = session.requestRows;
  if (!first?.timings) throw new Error('the example has no timings');
  const source = 'server_request_start_and_client_receive' as const;
  const timings = { ...first.timings, source, ttftMs: 90 };
  const [row] = duplexRequestMetricsJson({ ...session, requestRows: [{ ...first, timings }] });
  expect(row).toMatchObject({ ttft_ms: 90, response_created_to_first_text_ms: 120, client_ttft_ms: 120 });
});

it('a response without audio has its engine metrics only', () => {
  const session = exampleSession({});
  const rows = session.requestRows.map((row) => ({ ...row, timings: null }));
  expect(Object.keys(duplexRequestMetricsJson({ ...session, requestRows: rows })[0] ?? {})).toEqual([
    'session_id',
    'request_index',
    'response_id',
    'stage0_tokens',
    'stage_metrics',
  ]);
});

it('a session without audio has no stream window and no empty optional figures', () => {
  const { metrics } = exampleSession({});
  const silent = { ...metrics, audioTurnCount: 0, ttftMs: null, ttfpMs: null, rtf: null, tpotMs: null };
  const json = duplexSessionMetricsJson(
    exampleSession({ metrics: { ...silent, clientTtftMs: null, clientTtfpMs: null, stream: null } }),
  );
  expect(Object.keys(json)).toEqual(['session_id', 'audio_turn_count', 'ttft_ms', 'ttfp_ms', 'rtf']);
});
