import { describe, expect, test } from 'vitest';
import { attemptOf, chunkGapFacts, requestOf, textChunks } from '../../metrics/metric-records.suite.ts';
import { summarize } from '../../metrics/summarize.ts';
import { failedRun, textRun } from '../html/html-runs.suite.ts';
import { requestTimeline } from './request-timeline.ts';

const thresholds = [25, 50] as const;

test('a request is a bar to its first token, and one for each gap', () => {
  const facts = chunkGapFacts();
  const records = [
    requestOf({ events: textChunks([1100, 1120, 1150]) }, { index: 0, attempts: [attemptOf(1000, 1150)] }),
    requestOf({ events: textChunks([1300]) }, { index: 1, attempts: [attemptOf(1060.5, 1300)] }),
  ];
  const timeline = requestTimeline(summarize(records, facts), thresholds);
  expect(timeline?.requests).toMatchObject([
    { index: 0, startMs: 0, ttftMs: 100, gapsMs: [20, 30], latencyMs: 150 },
    { index: 1, startMs: 60.5, ttftMs: 239.5, gapsMs: [], latencyMs: 239.5 },
  ]);
  expect(timeline?.total).toBe(2);
});

describe('of many bars', () => {
  test('as many requests are shown as make few enough, evenly chosen', () => {
    const { records, facts } = textRun(200);
    const summary = summarize(records, facts);
    const all = requestTimeline(summary, thresholds);
    const bars = (all?.requests ?? []).reduce((sum, { gapsMs }) => sum + 1 + gapsMs.length, 0);
    const some = requestTimeline(summary, thresholds, bars / 4);
    expect(some?.total).toBe(all?.total);
    expect(some?.requests).toEqual(all?.requests.filter((_, i) => i % 4 === 0));
  });
});

test('a run that failed has nothing to draw', () => {
  const { records, facts } = failedRun();
  expect(requestTimeline(summarize(records, facts), thresholds)).toBeNull();
});
