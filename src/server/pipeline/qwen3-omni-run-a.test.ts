import { describe, expect, test } from 'vitest';
import { mean, percentileOfSorted, sortedCopy } from '../../foundation/statistics.ts';
import { qwen3Omni } from '../model/qwen3-omni.ts';
import { closedLoop, snapshots, values } from './closed-loop.suite.ts';
import { type SeenRun, virtualPipeline, withoutNoise } from './virtual-pipeline.suite.ts';

/** Requests one after another, as at a concurrency of one. */
function runRequests(pipeline: typeof qwen3Omni, count: number): SeenRun[] {
  return closedLoop(virtualPipeline(pipeline), count, 1);
}

function within(value: number | null, expected: number, ratio: number): void {
  expect(Math.abs((value ?? Number.NaN) / expected - 1)).toBeLessThanOrEqual(ratio);
}

// Published: 3 requests of 2,500 input and 900 output tokens, concurrency 1, streamed text and audio.
describe.each([
  { name: 'without noise', pipeline: withoutNoise(qwen3Omni), first: 0, ratio: 0.02 },
  { name: 'with noise', pipeline: qwen3Omni, first: 0, ratio: 0.02 },
  { name: 'with noise, after two warm-ups and a probe', pipeline: qwen3Omni, first: 3, ratio: 0.02 },
  { name: 'with noise, from any arrival', pipeline: qwen3Omni, first: 4, ratio: 0.02 },
])('the published run of Qwen3-Omni, $name', ({ pipeline, first, ratio }) => {
  const runs = runRequests(pipeline, first + 3).slice(first);

  test('thinker', () => {
    const thinker = snapshots(runs, 0);
    within(mean(values(thinker, 'serving_time_to_first_output_ms')), 816.31, ratio);
    within(mean(values(thinker, 'time_per_output_unit_ms')), 19.41, ratio);
    within(
      mean(thinker.flatMap(({ inter_output_latencies_ms }) => inter_output_latencies_ms ?? [])),
      19.41,
      ratio,
    );
    within(mean(values(thinker, 'stage_gen_time_ms')), 18243.16, ratio);
    expect(values(thinker, 'num_tokens_out')).toEqual([900, 900, 900]);
    expect(values(thinker, 'num_tokens_in')).toEqual([2500, 2500, 2500]);
  });

  test('talker', () => {
    const talker = snapshots(runs, 1);
    const gen = sortedCopy(values(talker, 'stage_gen_time_ms'));
    within(mean(values(talker, 'serving_time_to_first_output_ms')), 1029.14, ratio);
    within(mean(gen), 18849.64, ratio);
    within(percentileOfSorted(gen, 50), 13641.15, ratio);
    within(percentileOfSorted(gen, 100), 34060, ratio);
    within(mean(values(talker, 'time_per_output_unit_ms')), 17.53, ratio);
    const gaps = talker.flatMap(({ inter_output_latencies_ms }) => inter_output_latencies_ms ?? []);
    within(mean(gaps), 16.27, ratio);
    expect(talker.map(({ output_unit_type }) => output_unit_type)).toEqual(['stream', 'stream', 'stream']);
    expect(sortedCopy(values(talker, 'output_unit_count'))).toEqual(Float64Array.of(414, 668, 2207));
  });

  test('code2wav', () => {
    const code2wav = snapshots(runs, 2);
    within(mean(values(code2wav, 'serving_time_to_first_output_ms')), 1366.16, ratio);
    within(mean(values(code2wav, 'stage_gen_time_ms')), 18860.74, ratio);
    expect(mean(values(code2wav, 'audio_rtf'))).toBeCloseTo(0.24, 2);
    const samples = values(code2wav, 'audio_frames').reduce((sum, frames) => sum + frames, 0);
    expect(samples).toBe(6_242_730);
    const seconds = values(code2wav, 'audio_duration_s').reduce((sum, duration) => sum + duration, 0);
    expect(seconds.toFixed(2)).toBe('260.11');
  });
});

describe('the laws, by hand', () => {
  test('gaps vary as published: a median below the mean and a 99th percentile near 23.58 ms', () => {
    const gaps = snapshots(runRequests(qwen3Omni, 6), 0).flatMap(
      ({ inter_output_latencies_ms }) => inter_output_latencies_ms ?? [],
    );
    const sorted = sortedCopy(gaps);
    expect(percentileOfSorted(sorted, 50)).toBeLessThan(19.41);
    within(percentileOfSorted(sorted, 99), 23.58, 0.08);
  });

  test('one request: 414 frames in the lock of the thinker', () => {
    const [seen] = runRequests(withoutNoise(qwen3Omni), 1);
    const metrics = seen?.metrics();
    const first = 10.8 + 0.322 * 2500;
    const lockedStep = 0.973 * 19.41;
    expect(metrics?.['0']?.serving_time_to_first_output_ms).toBeCloseTo(first, 3);
    expect(metrics?.['1']?.serving_time_to_first_output_ms).toBeCloseTo(first + 213, 3);
    expect(metrics?.['1']?.stage_gen_time_ms).toBeCloseTo(first + 213 + 413 * lockedStep, 3);
    expect(metrics?.['2']?.serving_time_to_first_output_ms).toBeCloseTo(
      first + 213 + 17 * lockedStep + 16,
      3,
    );
    // 18 frames, then 15 chunks of 25 and the last 21.
    expect(metrics?.['2']?.audio_frames).toBe(1920 * 414 - 555 * 16);
  });

  test('the request finishes once, after its longest stage', () => {
    const [short, , long] = runRequests(qwen3Omni, 3);
    for (const [seen, lastStage] of [
      [short, 0],
      [long, 2],
    ] as const) {
      const finishing = seen?.outputs.filter(({ requestFinished }) => requestFinished) ?? [];
      expect(finishing.map(({ stageId }) => stageId)).toEqual([lastStage]);
      expect(seen?.outputs.at(-1)).toBe(finishing[0]);
    }
  });

  test('time scale multiplies durations and leaves counts alone', () => {
    const scaled = virtualPipeline(withoutNoise(qwen3Omni), { timeScale: 0.1 });
    const seen = scaled.submit();
    scaled.scheduler.runUntil();
    const [full] = runRequests(withoutNoise(qwen3Omni), 1);
    for (const stageId of ['0', '1', '2']) {
      const small = seen.metrics()[stageId];
      const large = full?.metrics()[stageId];
      expect(small?.output_unit_count).toBe(large?.output_unit_count);
      expect(small?.stage_gen_time_ms).toBeCloseTo((large?.stage_gen_time_ms ?? 0) / 10, 2);
    }
  });

  test('the same seed gives the same times, another seed others', () => {
    const timesOf = (seed: number): number[] => {
      const { scheduler, submit } = virtualPipeline(qwen3Omni, { seed });
      const seen = submit({ params: { maxTokens: 20 } });
      scheduler.runUntil();
      return seen.outputs.map(({ timeMs }) => timeMs);
    };
    expect(timesOf(1)).toEqual(timesOf(1));
    expect(timesOf(1)).not.toEqual(timesOf(2));
  });
});
