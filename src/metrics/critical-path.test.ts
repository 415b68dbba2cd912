import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import type { RequestRecord, StageSnapshot } from '../records/request-record.ts';
import { criticalPathOf } from './critical-path.ts';
import {
  attemptOf,
  audioChunks,
  omniFacts,
  requestOf,
  textChunks,
  wavFacts,
} from './metric-records.suite.ts';
import { requestSpansOf } from './request-spans.ts';

const facts = omniFacts();

function withStages(record: RequestRecord, stages: Readonly<Record<string, StageSnapshot>>): RequestRecord {
  const response = {
    id: null,
    finishReason: null,
    usage: null,
    stages,
    stageDurations: {},
    peakMemoryMb: null,
  };
  return { ...record, responses: [response] };
}

const stage = (name: string, firstMs: number, output: string | null = null): StageSnapshot => ({
  stage_name: name,
  final_output_type: output,
  serving_time_to_first_output_ms: firstMs,
  stage_gen_time_ms: 300,
});

/** Due at 0, sent at 5; text from 60, audio at 200 and 500. */
const spoken = requestOf(
  {
    startMs: 5,
    events: [
      ...textChunks([60, 90]),
      ...audioChunks([
        [200, 2400],
        [500, 2400],
      ]),
    ],
  },
  { intendedMs: 0, audio: wavFacts(4800) },
);

describe('the critical path', () => {
  it('gives each stage what it adds, and the rest to delivery', () => {
    const record = withStages(spoken, {
      0: stage('thinker', 50, 'text'),
      1: stage('talker', 80),
      2: stage('code2wav', 190, 'audio'),
    });
    expect(criticalPathOf(record, facts)).toEqual({
      goal: 'audio',
      steps: [
        { kind: 'client', name: 'client queue', ms: 5 },
        { kind: 'stage', name: 'thinker', ms: 50 },
        { kind: 'stage', name: 'talker', ms: 30 },
        { kind: 'stage', name: 'code2wav', ms: 110 },
        { kind: 'network', name: 'delivery', ms: 5 },
        { kind: 'stream', name: 'rest of the reply', ms: 300 },
      ],
    });
  });

  it('ends at the stage whose output it leads to', () => {
    const record = withStages(requestOf({ startMs: 0, events: textChunks([60, 90]) }), {
      0: stage('thinker', 50, 'text'),
      1: stage('talker', 80),
    });
    const names = criticalPathOf(record, facts)?.steps.map(({ name }) => name);
    expect(names).toEqual(['thinker', 'delivery', 'rest of the reply']);
  });

  property([
    fc.dictionary(fc.constantFrom('0', '1', '2', '10'), fc.integer({ min: -5, max: 1000 })),
    fc.nat(50),
  ])('adds up to the latency from when the request was due, whatever the stages say', (firsts, retryMs) => {
    const stages = Object.fromEntries(Object.entries(firsts).map(([id, ms]) => [id, stage(`s${id}`, ms)]));
    const record = withStages(spoken, stages);
    const attempts = [attemptOf(2, 3), ...record.attempts];
    const path = criticalPathOf(retryMs > 25 ? { ...record, attempts } : record, facts);
    expect(path?.steps.reduce((sum, { ms }) => sum + ms, 0)).toBeCloseTo(500, 9);
    expect(path?.steps.every(({ ms }) => ms > 0)).toBe(true);
  });

  it('is null for what failed or was not sent', () => {
    const failed = { ok: false, kind: 'http', status: 500, message: '', body: null } as const;
    expect(criticalPathOf({ ...spoken, outcome: failed }, facts)).toBeNull();
    expect(criticalPathOf({ ...spoken, attempts: [] }, facts)).toBeNull();
  });
});

describe('the spans of a request', () => {
  it('end with the output that the client saw, where it saw it', () => {
    const record = withStages(spoken, {
      0: stage('thinker', 50, 'text'),
      2: stage('code2wav', 190, 'audio'),
    });
    const spans = requestSpansOf(record);
    const ends = Object.fromEntries(spans.map(({ name, startMs, endMs }) => [name, [startMs, endMs]]));
    expect(ends).toMatchObject({
      'client queue': [0, 5],
      'HTTP exchange': [5, 500],
      // 300 ms of work may not begin before the server had the request.
      thinker: [5, 90],
      code2wav: [200, 500],
      'text received': [60, 90],
      'audio received': [200, 500],
    });
  });

  it('hold every attempt, and many exchanges as one', () => {
    const [attempt] = spoken.attempts;
    if (!attempt) throw new Error('it was sent');
    const polled = { ...attempt, exchanges: Array.from({ length: 40 }, () => attempt.exchanges).flat() };
    const spans = requestSpansOf({ ...spoken, attempts: [{ ...attemptOf(1, 4), error: 'reset' }, polled] });
    expect(spans.filter(({ name }) => name === 'failed attempt')).toMatchObject([{ note: 'reset' }]);
    expect(spans.some(({ name }) => name === '28 more exchanges')).toBe(true);
    expect(spans.length).toBeLessThan(20);
  });
});
