import { expect, test } from 'vitest';
import { Playback } from './playback.ts';
import { Counter, exposition, Gauge, Histogram } from './prometheus.ts';

test('the text format is that of Prometheus', () => {
  const counter = new Counter('a_total', 'Counts\nthings.');
  counter.add({ reason: 'it said "no"\\' });
  counter.add({ reason: 'it said "no"\\' }, 2);
  const histogram = new Histogram('b_s', 'Takes.', [0.1, 1]);
  for (const value of [0.1, 0.5, 7]) histogram.observe({}, value);
  const gauge = new Gauge('c', 'Is.', () => [[{ x: '1' }, 0.5]]);
  expect(exposition([counter, histogram, gauge])).toBe(
    [
      '# HELP a_total Counts\\nthings.',
      '# TYPE a_total counter',
      'a_total{reason="it said \\"no\\"\\\\"} 3',
      '# HELP b_s Takes.',
      '# TYPE b_s histogram',
      'b_s_bucket{le="0.1"} 1',
      'b_s_bucket{le="1"} 2',
      'b_s_bucket{le="+Inf"} 3',
      'b_s_sum 7.6',
      'b_s_count 3',
      '# HELP c Is.',
      '# TYPE c gauge',
      'c{x="1"} 0.5',
      '',
    ].join('\n'),
  );
});

test('a player that starts at once runs dry by the worst gap', () => {
  // Chunks of 1, 0.5 and 1 s that arrive at 0.5, 1.2 and 2.8 s: the third is 2.3 s after the first, 0.8 s late.
  const playback = new Playback();
  expect(playback.started).toBe(false);
  playback.chunk(500, 1000);
  playback.chunk(1200, 500);
  expect(playback.underrunMs).toBe(0);
  playback.chunk(2800, 1000);
  expect(playback.underrunMs).toBeCloseTo(800, 9);
  expect(playback.durationMs).toBe(2500);
});
