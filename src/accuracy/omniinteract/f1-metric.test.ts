import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { property } from '../../foundation/property.suite.ts';
import { decay } from './decay.ts';
import { f1Metric, sumCounts } from './f1-metric.ts';
import { matchChunks } from './match-chunks.ts';
import type { Slot } from './slot.ts';

const counts = fc.record({
  tp: fc.double({ min: 0, max: 1000, noNaN: true }),
  fp: fc.nat(1000),
  fn: fc.nat(1000),
  slots: fc.integer({ min: 1, max: 1000 }),
});

describe('IA-QTF1', () => {
  property([counts])('is 2 TP / (2 TP + FP + FN), from 0 to 1', (some) => {
    const { IA_QTF1 } = f1Metric(some);
    const { tp, fp, fn } = some;
    const expected = tp === 0 ? 0 : (2 * tp) / (2 * tp + fp + fn);
    expect(IA_QTF1).toBeCloseTo(expected, 9);
    expect(IA_QTF1).toBeLessThanOrEqual(1 + 1e-12);
  });

  property([fc.array(counts, { minLength: 1, maxLength: 5 })])(
    'of pooled counts lies between those of the parts',
    (all) => {
      const scores = all.map((each) => f1Metric(each).IA_QTF1 ?? 0);
      const pooled = f1Metric(sumCounts(all)).IA_QTF1 ?? 0;
      expect(pooled).toBeGreaterThanOrEqual(Math.min(...scores) - 1e-9);
      expect(pooled).toBeLessThanOrEqual(Math.max(...scores) + 1e-9);
    },
  );
});

const seconds = fc.double({ min: 0, max: 100, noNaN: true });

property([seconds, seconds, seconds, seconds])('a later answer is never worth more', (a, b, peak, end) => {
  const [early, late] = [Math.min(a, b), Math.max(a, b)];
  expect(decay(late, peak, end)).toBeLessThanOrEqual(decay(early, peak, end));
  expect(decay(a, peak, end)).toBeGreaterThanOrEqual(0);
  expect(decay(a, peak, end)).toBeLessThanOrEqual(1);
});

const slotAt = (slotId: number, startS: number, answerS: number, endS: number): Slot => ({
  slotId,
  startS,
  answerS,
  endS,
  boundaryType: 'Hard',
  questionText: '',
  referenceAnswer: '',
  sceneType: 'multi_turn',
  stepIndex: null,
  turnIndex: slotId,
  questionType: 'realtime',
  isInterrupted: false,
  label: '',
  nestedGroupId: null,
  nestedRole: null,
});

property([
  fc.array(fc.tuple(seconds, seconds, seconds), { maxLength: 6 }),
  fc.array(fc.tuple(seconds, seconds, fc.array(seconds, { maxLength: 4 })), { maxLength: 8 }),
])('no chunk and no word is lost or counted twice', (windows, spans) => {
  const slots = windows.map(([start, answer, end], i) => slotAt(i + 1, start, answer, end));
  const chunks = spans.map(([a, b, starts], sourceId) => ({
    sourceId,
    text: `c${sourceId}`,
    startS: Math.min(a, b),
    endS: Math.max(a, b),
    words: [...starts]
      .sort((x, y) => x - y)
      .map((startS, i) => ({ text: `w${sourceId}.${i}`, startS, endS: startS })),
  }));
  const { matched, unmatched } = matchChunks(slots, chunks);
  const ids = [...matched.flatMap(({ all }) => all), ...unmatched].map(({ sourceId }) => sourceId);
  expect(ids.sort((x, y) => x - y)).toEqual(chunks.map(({ sourceId }) => sourceId));
  for (const { all, early, core } of matched) {
    const words = (list: typeof all) => list.flatMap((chunk) => chunk.words.map(({ text }) => text)).sort();
    expect(words([...early, ...core])).toEqual(words(all));
  }
});
