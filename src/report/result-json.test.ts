import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { omniFacts, requestOf, textChunks } from '../metrics/metric-records.suite.ts';
import { summarize } from '../metrics/summarize.ts';
import { baseRun, everySection } from './own-runs.suite.ts';
import { renderResultJson } from './result-json.ts';

const dateLabel = '20260102-030405';
const keysOf = (run: ReturnType<typeof everySection>, detailed: boolean): string[] =>
  Object.keys(renderResultJson(summarize(run.records, run.facts), { detailed, dateLabel }));

// The original's keys in its order.
const omniSetup =
  'date endpoint_type backend label model_id tokenizer_id num_prompts request_rate burstiness max_concurrency';
const omniResults =
  'duration completed failed total_input_tokens total_output_tokens request_throughput request_goodput output_throughput total_token_throughput total_audio_duration_s total_audio_frames audio_throughput total_images image_throughput average_pixels_per_image mean_denoise_step_latency_ms total_video_duration_s total_video_frames video_throughput mean_video_rtf median_video_rtf percentiles_video_rtf mean_video_generation_ms median_video_generation_ms percentiles_video_generation_ms mean_peak_memory_mb median_peak_memory_mb percentiles_peak_memory_mb stage_durations_mean stage_durations_p50 stage_durations_p99 input_lens start_times output_lens ttfts itls generated_texts errors max_output_tokens_per_s max_concurrent_requests rtfx num_ttft_samples num_tpot_samples num_itl_samples num_audio_ttfp_samples num_audio_rtf_samples';
const detailKeys = ['input_lens', 'output_lens', 'start_times', 'ttfts', 'itls', 'generated_texts', 'errors'];

describe('omni result', () => {
  it('has the original’s keys in its order, and its own after them', () => {
    const run = everySection();
    const plain = {
      ...run,
      facts: { ...run.facts, metadata: {}, percentileMetrics: ['ttft', 'audio_ttfp'] },
    };
    const selected =
      'mean_ttft_ms median_ttft_ms std_ttft_ms p50_ttft_ms p99_ttft_ms p99.9_ttft_ms mean_audio_ttfp_ms median_audio_ttfp_ms std_audio_ttfp_ms p50_audio_ttfp_ms p99_audio_ttfp_ms p99.9_audio_ttfp_ms';
    const expected = `${omniSetup} ${omniResults} request_stage_metrics ${selected}`.split(' ');
    const found = keysOf(plain, true);
    expect(found.slice(0, expected.length)).toEqual(expected);
    const additions = found.slice(expected.length);
    for (const key of [
      'failed_requests',
      'audio_continuity_ok_rate',
      'e2els',
      'video_rtfs',
      'client_transport',
    ])
      expect(additions).toContain(key);
  });

  it('leaves the lists out without detail, and nothing else of the original', () => {
    const brief = keysOf(everySection(), false);
    const original = `${omniSetup} ${omniResults}`.split(' ').filter((key) => !detailKeys.includes(key));
    expect(brief).toEqual(expect.arrayContaining(original));
    for (const key of [...detailKeys, 'e2els', 'audio_rtfs']) expect(brief).not.toContain(key);
  });

  it('has an entry per request, null where nothing was observed', () => {
    const { records, facts } = everySection();
    const result = renderResultJson(summarize(records, facts), { detailed: true, dateLabel });
    for (const key of [...detailKeys, 'e2els', 'image_counts', 'request_stage_metrics'])
      expect(result[key]).toHaveLength(5);
    expect(result.output_lens).toEqual([4, 4, 4, 0, 0]);
    expect(result.ttfts).toEqual([0.15, 0.15, 0.15, null, null]);
  });

  it('keeps four figures of each stage without detail', () => {
    const { records, facts } = everySection();
    const result = renderResultJson(summarize(records, facts), { detailed: false, dateLabel });
    expect((result.request_stage_metrics as Record<string, unknown>[])[0]?.['0']).toEqual({
      num_tokens_out: 4,
      finish_reason: 'length',
    });
  });

  it('orders audio metrics as they were named', () => {
    const { records, facts } = everySection();
    const named = { ...facts, percentileMetrics: ['audio_duration', 'audio_ttfp', 'itl', 'ttft'] };
    const means = keysOf({ records, facts: named }, false).filter((key) => key.startsWith('mean_'));
    expect(means.filter((key) => /ttft|itl|audio/.test(key))).toEqual([
      'mean_ttft_ms',
      'mean_itl_ms',
      'mean_audio_duration_s',
      'mean_audio_ttfp_ms',
    ]);
  });

  it('skips selected metrics that nothing observed', () => {
    const facts = omniFacts({ percentileMetrics: ['ttft', 'audio_ttfp'] });
    const found = Object.keys(
      renderResultJson(summarize([requestOf({ events: textChunks([5, 9]) })], facts), {
        detailed: false,
        dateLabel,
      }),
    );
    expect(found).toContain('p99_ttft_ms');
    expect(found.filter((key) => key.endsWith('audio_ttfp_ms'))).toEqual([]);
  });

  it('lets metadata replace the set-up and not the results', () => {
    const { records, facts } = everySection();
    const metadata = { num_prompts: 'mine', duration: 'not mine', ['__proto__']: 'kept' };
    const result = renderResultJson(summarize(records, { ...facts, metadata }), {
      detailed: false,
      dateLabel,
    });
    expect(result.num_prompts).toBe('mine');
    expect(result.duration).toBe(2.5);
    expect(Object.entries(result)).toContainEqual(['__proto__', 'kept']);
  });
});

describe('base result', () => {
  it('has the original’s keys in its order', () => {
    const expected =
      'date endpoint_type backend label model_id tokenizer_id num_prompts request_rate burstiness max_concurrency ramp_up_strategy ramp_up_start_rps ramp_up_end_rps duration completed failed total_input_tokens total_output_tokens request_throughput request_goodput output_throughput total_token_throughput input_lens output_lens ttfts itls start_times generated_texts errors max_output_tokens_per_s max_concurrent_requests rtfx probe_completed probe_failed probe_median_e2el_ms probe_p99_e2el_ms probe_max_e2el_ms rps_change_events mean_ttft_ms median_ttft_ms std_ttft_ms p99_ttft_ms mean_tpot_ms'.split(
        ' ',
      );
    expect(keysOf(baseRun(), true).slice(0, expected.length)).toEqual(expected);
  });
});

/** Every number in a value, however deep. */
function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : [];
}

describe('any result', () => {
  property([
    fc.array(
      fc.record({
        times: fc.array(fc.nat(3000), { maxLength: 6 }),
        ok: fc.boolean(),
        outputTokens: fc.option(fc.nat(20)),
      }),
      { maxLength: 5 },
    ),
    fc.boolean(),
    fc.option(fc.nat(4000)),
    fc.double({ min: 0, noNaN: true }),
  ])('is JSON that reads back as it was', (requests, omni, endMs, burstiness) => {
    const records = requests.map(({ times, ok, outputTokens }, index) =>
      requestOf(
        { endMs: 3000, events: textChunks(times.toSorted((a, b) => a - b)) },
        {
          index,
          outputTokens,
          outcome: ok ? { ok } : { ok, kind: 'reset', status: null, message: 'reset', body: null },
        },
      ),
    );
    const facts = omniFacts({
      omni,
      endMs,
      startMs: endMs === null ? null : 0,
      burstiness,
      goodput: { ttft: 9 },
    });
    const result = renderResultJson(summarize(records, facts), { detailed: true, dateLabel });
    expect(numbersIn(result).every(Number.isFinite)).toBe(true);
    expect(JSON.parse(JSON.stringify(result))).toEqual(result);
  });
});
