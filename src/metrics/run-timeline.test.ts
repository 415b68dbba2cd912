import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { audioChunks, omniFacts, requestOf, textChunks, wavFacts } from './metric-records.suite.ts';
import { runTimelineOf } from './run-timeline.ts';

const facts = omniFacts({ startMs: 0 });
const sum = (values: Float64Array | undefined): number =>
  values?.reduce((total, value) => total + value, 0) ?? Number.NaN;

describe('the timeline of a run', () => {
  property([
    fc.array(fc.tuple(fc.nat(60_000), fc.integer({ min: 1, max: 5000 }), fc.boolean()), {
      minLength: 1,
      maxLength: 60,
    }),
  ])('loses no request, token or audio', (requests) => {
    const records = requests.map(([startMs, lengthMs, isOk], index) =>
      requestOf(
        {
          startMs,
          events: isOk
            ? [
                ...textChunks([startMs + lengthMs / 2, startMs + lengthMs]),
                ...audioChunks([[startMs + lengthMs, 240]]),
              ]
            : [],
          endMs: startMs + lengthMs,
        },
        {
          index,
          audio: isOk ? wavFacts(240) : null,
          outputTokens: isOk ? 7 : null,
          outcome: isOk ? { ok: true } : { ok: false, kind: 'reset', status: null, message: '', body: null },
        },
      ),
    );
    const timeline = runTimelineOf(records, facts);
    const succeeded = requests.filter(([, , isOk]) => isOk).length;
    expect(sum(timeline?.due)).toBe(requests.length);
    expect(sum(timeline?.sent)).toBe(requests.length);
    expect(sum(timeline?.succeeded)).toBe(succeeded);
    expect(sum(timeline?.failed)).toBe(requests.length - succeeded);
    expect(sum(timeline?.outputTokens)).toBe(7 * succeeded);
    expect(sum(timeline?.audioS)).toBeCloseTo(0.01 * succeeded, 9);
    // The most at one moment, found the slow way at each start.
    const most = Math.max(
      ...requests.map(
        ([now]) =>
          requests.filter(([startMs, lengthMs]) => startMs <= now && startMs + lengthMs > now).length,
      ),
    );
    expect(Math.max(...(timeline?.inFlight ?? []))).toBe(most);
    expect(timeline?.sent.length).toBeLessThanOrEqual(151);
  });

  it('is null where nothing was sent', () => {
    expect(runTimelineOf([], omniFacts({ startMs: null }))).toBeNull();
  });
});
