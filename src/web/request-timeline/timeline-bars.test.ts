import { expect, test } from 'vitest';
import { barLabels, barsOf, clockLabel, gapKind, tickStepMs } from './timeline-bars.ts';

test('bars follow each other and take the colour of their length', () => {
  const request = {
    index: 3,
    startMs: 10,
    latencyMs: 190,
    ttftMs: 40,
    gapsMs: [24.9, 25, 50],
    promptTokens: 5,
    outputTokens: 4,
  };
  expect(barsOf(request, [25, 50])).toEqual([
    { kind: 'ttft', startMs: 10, endMs: 50 },
    { kind: 'fast', startMs: 50, endMs: 74.9 },
    { kind: 'medium', startMs: 74.9, endMs: 99.9 },
    { kind: 'slow', startMs: 99.9, endMs: 149.9 },
  ]);
});

test('the legend is the reference’s', () => {
  expect(Object.values(barLabels([25, 50]))).toEqual([
    'TTFT',
    'ITL < 25ms',
    '25ms ≤ ITL < 50ms',
    'ITL ≥ 50ms',
  ]);
  expect(gapKind(50, [25, 50])).toBe('slow');
});

test.each([
  [0, '00:00:00.000'],
  [1234.6, '00:00:01.235'],
  [59_999.9, '00:01:00.000'],
  [3_725_004, '01:02:05.004'],
])('%d ms is %s', (ms, label) => expect(clockLabel(ms)).toBe(label));

test.each([
  [10, 10, 1],
  [7_000, 10, 1_000],
  [100_000, 10, 10_000],
  [3_600_000, 10, 600_000],
])('%d ms over %d ticks step by %d', (span, most, step) => expect(tickStepMs(span, most)).toBe(step));
