import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { ProgressRate, type ProgressState, progressBar, progressLine } from './progress-line.ts';

const state: ProgressState = {
  label: 'Requests',
  done: 450,
  total: 1000,
  failed: 2,
  inFlight: 64,
  elapsedMs: 12_300,
  ratePerS: 35.25,
  lastError: null,
};

describe('progress', () => {
  it('shows done, rate, time left, in flight and failed', () => {
    expect(progressBar(state, 120)).toBe(
      `Requests  45%|${'█'.repeat(13)}${' '.repeat(17)}| 450/1000 [00:12<00:16, 35.2 req/s, 64 in flight, 2 failed]`,
    );
    expect(progressLine(state)).toBe('Requests 450/1000 [00:12<00:16, 35.2 req/s, 64 in flight, 2 failed]');
  });

  it('says that it does not know yet', () => {
    const fresh = { ...state, done: 0, failed: 0, ratePerS: null, elapsedMs: 0 };
    expect(progressLine(fresh)).toBe('Requests 0/1000 [00:00<?, ? req/s, 64 in flight]');
    expect(progressLine({ ...fresh, total: null, elapsedMs: 3_725_000 })).toBe(
      'Requests 0 [1:02:05, ? req/s, 64 in flight]',
    );
  });

  it('shows the last error, cleaned', () => {
    const failing = { ...state, lastError: 'HTTP 500:\n\u001b[2Jboom' };
    expect(progressLine(failing)).toContain('2 failed], last error: HTTP 500: boom');
    expect(progressBar(failing, 160)).toContain('2 failed] HTTP 500: boom');
  });

  it('leaves room for characters that are two columns wide', () => {
    const line = progressBar({ ...state, lastError: '模'.repeat(200) }, 160);
    expect(line.length + line.split('模').length - 1).toBeLessThan(160);
  });

  property([
    fc.integer({ min: 1, max: 200 }),
    fc.record({
      done: fc.nat(2000),
      total: fc.option(fc.nat(2000)),
      failed: fc.nat(9),
      error: fc.string({ unit: 'binary' }),
    }),
  ])('stays on one line of the terminal', (columns, { done, total, failed, error }) => {
    const line = progressBar({ ...state, done, total, failed, lastError: error }, columns);
    expect(Array.from(line).length).toBeLessThan(columns);
    expect(line).not.toMatch(/\p{Cc}/u);
  });
});

describe('live rate', () => {
  it('is that of the window, not of the run', () => {
    const rate = new ProgressRate(1000);
    expect(rate.update(0, 0)).toBeNull();
    expect(rate.update(500, 5)).toBe(10);
    expect(rate.update(1000, 10)).toBe(10);
    expect(rate.update(2000, 50)).toBe(40);
    expect(rate.update(3000, 50)).toBe(0);
  });
});
