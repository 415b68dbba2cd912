import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { eventKinds, eventLogOf } from '../records/event-log.ts';
import { peakOverlap } from './exact-concurrency.ts';
import { ExactTokenPeak } from './exact-token-peak.ts';
import { splitOverTokens, visitShared } from './token-arrivals.ts';

describe('exact token peak', () => {
  property([fc.array(fc.tuple(fc.nat(5000), fc.integer({ min: 1, max: 9 })), { minLength: 1 })])(
    'is the fullest second that begins with an arrival',
    (arrivals) => {
      const found = new ExactTokenPeak(0, 5000);
      for (const [timeMs, tokens] of arrivals) found.add(timeMs, tokens);
      const sums = arrivals.map(([from]) =>
        arrivals.reduce((sum, [at, tokens]) => sum + (at >= from && at < from + 1000 ? tokens : 0), 0),
      );
      expect(found.peak()).toBe(Math.max(...sums));
    },
  );

  it('keeps its memory in a run of days', () => {
    const day = 86_400_000;
    const found = new ExactTokenPeak(0, 3 * day);
    for (const timeMs of [day, day + 400, day + 800, 2 * day]) found.add(timeMs, 2);
    expect(found.peak()).toBe(6);
  });
});

property([fc.array(fc.tuple(fc.nat(50), fc.nat(20)), { minLength: 1 })])(
  'overlap peaks where an interval starts, and ends before starts',
  (intervals) => {
    const ends = intervals.map(([start, length]) => start + length + 1);
    const starts = intervals.map(([start]) => start);
    const open = starts.map(
      (now) => starts.filter((start, i) => start <= now && (ends[i] ?? 0) > now).length,
    );
    expect(peakOverlap(starts, ends)).toBe(Math.max(...open));
  },
);

describe('shared tokens', () => {
  const chunk = fc.record({ timeMs: fc.nat(9), tokens: fc.option(fc.nat(5)), bytes: fc.nat(2) });

  property([fc.array(chunk), fc.integer({ min: 1, max: 200 })])('add up to the total', (rows, total) => {
    let sum = 0;
    let visits = 0;
    visitShared(eventLogOf(rows.map((row) => ({ ...row, kind: eventKinds.text }))), total, (_, tokens) => {
      expect(tokens).toBeGreaterThan(0);
      sum += tokens;
      visits += 1;
    });
    expect(sum).toBe(visits === 0 ? 0 : total);
  });

  it('stand as they were counted where they add up', () => {
    const events = eventLogOf([1, 4, 2].map((tokens, timeMs) => ({ timeMs, tokens, bytes: 1 })));
    const seen: number[] = [];
    visitShared(events, 7, (_, tokens) => seen.push(tokens));
    expect(seen).toEqual([1, 4, 2]);
  });

  property([fc.array(fc.tuple(fc.nat(99), fc.integer({ min: 1, max: 9 })), { minLength: 1 })])(
    'split into gaps that add up to the span, one a token after the first',
    (arrivals) => {
      const walked: [timeMs: number, tokens: number][] = [];
      for (const [gap, tokens] of arrivals) walked.push([(walked.at(-1)?.[0] ?? 0) + gap, tokens]);
      const total = walked.reduce((sum, [, tokens]) => sum + tokens, 0);
      const { firstMs, lastMs, gapsMs } = splitOverTokens(total, (visit) => {
        for (const [at, tokens] of walked) visit(at, tokens);
      });
      expect(gapsMs).toHaveLength(total - 1);
      expect(gapsMs.reduce((sum, gap) => sum + gap, 0)).toBeCloseTo(lastMs - firstMs, 6);
    },
  );
});
