import { describe, expect, it } from 'vitest';
import { ResponseTimings } from './response-timings.ts';
import { sessionMetrics } from './session-metrics.ts';

/** 100 ms of sound. */
const bytes = 4800;

function response(
  createdMs: number,
  { textMs, audioMs }: { textMs?: number; audioMs?: readonly number[] },
  carrier: Record<string, unknown> = {},
): ResponseTimings {
  const timings = new ResponseTimings();
  timings.createdMs = createdMs;
  if (textMs !== undefined) timings.onText(textMs);
  for (const timeMs of audioMs ?? []) timings.onAudio(timeMs, bytes, {});
  timings.onCarrier(carrier);
  return timings;
}

function metricsOf(responses: readonly ResponseTimings[], streamStartMs = 1000) {
  const rows = responses.flatMap((timings, i) => timings.row(i, `r${i}`) ?? []);
  return { rows, metrics: sessionMetrics(rows, responses, streamStartMs) };
}

describe('the rows of a session', () => {
  it('are of responses with sound or engine figures', () => {
    const { rows, metrics } = metricsOf([
      response(2000, { textMs: 2100 }),
      response(3000, { textMs: 3100 }, { vllm_omni: { stage_metrics: { '0': { num_tokens_out: 0 } } } }),
      response(4000, { audioMs: [4200] }),
    ]);
    expect(rows.map(({ requestIndex, timings }) => [requestIndex, timings === null])).toEqual([
      [1, true],
      [2, false],
    ]);
    expect(rows[0]?.stageZero).toEqual({ outputTokenCount: 0, ttftMs: null, tpotMs: null, itlsMs: [] });
    expect(rows[1]?.timings).toMatchObject({ ttftMs: null, ttfpMs: 200, audioGenerationMs: 200, rtf: 2 });
    expect(metrics.audioTurnCount).toBe(2);
    // A response without text adds nothing to the first-token times, and no 0.
    expect(metrics.ttftMs).toBeNull();
  });

  it('take the first place that has figures, and the last event', () => {
    const timings = response(1000, { audioMs: [1100] });
    timings.onCarrier({
      metadata: { stage_metrics: { '0': { num_tokens_out: 1 } }, vllm_omni: { stage_metrics: { '0': {} } } },
      response: { metadata: { response_request_metrics: { ttft_ms: 50, ttfp_ms: -1 } } },
    });
    timings.onCarrier({
      response: {
        metadata: { vllm_omni: { stage_metrics: { '0': { num_tokens_out: 9, vllm_itls_ms: [3, 'x', 5] } } } },
      },
      response_request_metrics: { ttfp_ms: 60 },
      vllm_omni: { response_request_metrics: { ttfp_ms: 70 } },
    });
    expect(timings.row(0, 'r')).toMatchObject({
      timings: { ttftMs: 50, ttfpMs: 60, clientTtfpMs: 100 },
      stageZero: { outputTokenCount: 9, itlsMs: [3, 5] },
    });
  });

  it.each([
    ['a fraction', 1.5],
    ['a negative number', -1],
    ['a text', '3'],
    ['true', true],
  ])('have no token count where the server sends %s', (_, count) => {
    const timings = response(1000, {}, { vllm_omni: { stage_metrics: { '0': { num_tokens_out: count } } } });
    expect(timings.row(0, 'r')?.stageZero?.outputTokenCount).toBeNull();
  });

  it('count sound as the server does, where it says', () => {
    const timings = response(1000, {});
    timings.onAudio(1100, bytes, { metadata: { audio_duration_ms: 80 } });
    timings.onAudio(1200, bytes, { metadata: { audio_duration_ms: 160 } });
    expect(timings.row(0, 'r')?.timings).toMatchObject({ audioDurationMs: 160, rtf: 1.25 });
  });
});

describe('the figures of a session', () => {
  it('are means and nearest ranks over its responses', () => {
    const { metrics } = metricsOf([
      response(2000, { textMs: 2100.0004, audioMs: [2120] }),
      response(3000, { textMs: 3200, audioMs: [3220] }),
      response(4000, { textMs: 4300, audioMs: [4320] }),
      response(5000, { textMs: 5401, audioMs: [5420] }),
    ]);
    expect(metrics.ttftMs).toEqual({ count: 4, mean: 250.25, p50: 200, p99: 401 });
    expect(metrics.rtf).toEqual({ count: 4, mean: 2.7, p50: 2.2, p99: 4.2 });
    expect(metrics.tpotMs).toBeNull();
  });

  it('of the stream count from the start of the input, over all sound', () => {
    const { metrics } = metricsOf([
      response(1500, { textMs: 1700, audioMs: [1800, 2000] }),
      response(5000, { textMs: 5100, audioMs: [5200, 6000] }),
    ]);
    expect(metrics.stream).toMatchObject({
      ttftMs: 700,
      ttfpMs: 800,
      audioGenerationMs: 5000,
      audioDurationMs: 400,
      rtf: 12.5,
    });
    expect(metricsOf([response(1500, { textMs: 1600 })]).metrics.stream).toBeNull();
  });

  it('take engine times above zero only', () => {
    const engine = (tpot: number) => ({ metadata: { stage_metrics: { '0': { vllm_tpot_ms: tpot } } } });
    const { metrics } = metricsOf([
      response(1500, { audioMs: [1600] }, engine(0)),
      response(2500, { audioMs: [2600] }, engine(12)),
      response(3500, { audioMs: [3600] }, engine(18)),
    ]);
    expect(metrics.tpotMs).toEqual({ count: 2, mean: 15, p50: 12, p99: 18 });
  });
});
