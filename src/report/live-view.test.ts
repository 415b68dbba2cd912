import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { type LiveState, liveLines } from './live-view.ts';

const state: LiveState = {
  progress: {
    label: 'Requests',
    done: 450,
    total: 1000,
    failed: 3,
    inFlight: 64,
    elapsedMs: 12_300,
    ratePerS: 35.25,
    lastError: 'HTTP 503:\n\u001b[2Jbusy',
  },
  offeredPerS: 40,
  sentPerS: 38.5,
  endedPerS: 35.25,
  waiting: 12,
  windowS: 10,
  latencies: [
    { label: 'TTFT', p50Ms: 8.126, p99Ms: 31.25 },
    { label: 'E2EL', p50Ms: 1226.4, p99Ms: 3920 },
  ],
  stages: [
    { name: 'thinker', meanMs: 250 },
    { name: 'talker', meanMs: 1000 },
  ],
  failures: [
    { what: 'http 503', count: 2 },
    { what: 'timeout', count: 1 },
  ],
};

describe('the live view', () => {
  it('shows progress, rates, latencies, stages and failures', () => {
    expect(liveLines(state, 100)).toEqual([
      'Requests  45%|███████████              | 450/1000 [00:12<00:16, 35.2 req/s, 64 in flight, 3 failed]',
      'rate      offered 40.0, sent 38.5, ended 35.2 req/s; 12 waiting, 64 in flight',
      'last 10 s TTFT 8.13 / 31.2, E2EL 1226 / 3920 ms (p50 / p99)',
      `stages    thinker       ${'█'.repeat(10)}${' '.repeat(30)}     250 ms`,
      `          talker        ${'█'.repeat(40)}    1000 ms`,
      'failures  2 × http 503, 1 × timeout',
      'error     HTTP 503: busy',
    ]);
  });

  it('leaves out what there is nothing to say of', () => {
    const quiet = { ...state, latencies: [], stages: [], failures: [] };
    expect(liveLines({ ...quiet, progress: { ...state.progress, lastError: null } }, 100)).toHaveLength(2);
  });

  property([fc.integer({ min: 0, max: 220 }), fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' })])(
    'is never wider than the terminal, and lets no control character through',
    (columns, name, error) => {
      const lines = liveLines(
        {
          ...state,
          stages: [{ name, meanMs: 5 }],
          failures: Array.from({ length: 9 }, (_, count) => ({ what: 'http 500', count })),
          progress: { ...state.progress, lastError: error },
        },
        columns,
      );
      for (const line of lines) {
        expect(Array.from(line).length).toBeLessThanOrEqual(Math.max(columns - 1, 0));
        expect(line).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
      }
    },
  );
});
