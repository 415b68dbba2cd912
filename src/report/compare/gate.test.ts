import { describe, expect, it } from 'vitest';
import { UsageError } from '../../foundation/errors.ts';
import { checkGateKey, judgeChange, judgeThreshold, parseGate } from './gate.ts';

describe('parseGate', () => {
  it.each([
    ['fail-on', 'p99_ttft_ms>+5%', { key: 'p99_ttft_ms', operator: '>', limit: 0.05, relative: true }],
    [
      'fail-on',
      'request_throughput < -2.5 %',
      { key: 'request_throughput', operator: '<', limit: -0.025, relative: true },
    ],
    ['fail-on', 'failed>=1', { key: 'failed', operator: '>=', limit: 1, relative: false }],
    [
      'threshold',
      'p99.9_ttft_ms<=1e3',
      { key: 'p99.9_ttft_ms', operator: '<=', limit: 1000, relative: false },
    ],
    ['threshold', 'mean-ttft-ms == .5', { key: 'mean_ttft_ms', operator: '==', limit: 0.5, relative: false }],
  ] as const)('%s %s', (kind, text, expected) => {
    expect(parseGate(kind, text)).toEqual({ kind, text: text.trim(), ...expected });
  });

  it.each([
    ['fail-on', 'p99_ttft_ms'],
    ['fail-on', 'p99_ttft_ms=5%'],
    ['fail-on', '>5%'],
    ['fail-on', 'p99_ttft_ms>five'],
    ['fail-on', 'p99_ttft_ms>5%%'],
    ['threshold', 'p99_ttft_ms<+5%'],
    ['threshold', ''],
  ] as const)('refuses %s %j', (kind, text) => {
    expect(() => parseGate(kind, text)).toThrow(UsageError);
  });
});

describe('checkGateKey', () => {
  const known = new Set(['accept_length']);
  it.each(['mean_ttft_ms', 'p12.5_audio_rtf', 'request_throughput', 'accept_length'])('knows %s', (key) => {
    expect(() => checkGateKey(parseGate('threshold', `${key}<1`), known)).not.toThrow();
  });

  it.each([
    ['mean_tftt_ms', 'mean_ttft_ms'],
    ['p99_ttft', 'p99_ttft_ms'],
    ['acept_length', 'accept_length'],
  ])('names the key nearest to %s', (key, nearest) => {
    expect(() => checkGateKey(parseGate('threshold', `${key}<1`), known)).toThrow(
      new RegExp(`Did you mean ${nearest}\\?`),
    );
  });
});

describe('judging', () => {
  const threshold = parseGate('threshold', 'p99_ttft_ms<500');
  const rise = parseGate('fail-on', 'p99_ttft_ms>+5%');
  const fall = parseGate('fail-on', 'request_throughput<-5%');

  it.each([
    [499.9, true],
    [500, false],
    [null, false],
    [Number.NaN, false],
  ])('a threshold of 500 with %s', (value, passed) => {
    expect(judgeThreshold(threshold, value).passed).toBe(passed);
  });

  it.each([
    [rise, 100, 104.9, true],
    [rise, 100, 105.1, false],
    [rise, 100, 50, true],
    [rise, 0, 0, true],
    [rise, 0, 1, false],
    [rise, null, 1, false],
    [rise, 1, null, false],
    [fall, 10, 9.4, false],
    [fall, 10, 12, true],
    [parseGate('fail-on', 'failed>0'), 0, 1, false],
    [parseGate('fail-on', 'failed>0'), 3, 3, true],
  ])('%o from %s to %s', (gate, baseline, candidate, passed) => {
    expect(judgeChange(gate, baseline, candidate).passed).toBe(passed);
  });

  it('can be excused by scatter, unless nothing was observed', () => {
    expect(judgeChange(rise, 100, 200, true)).toMatchObject({ passed: true });
    expect(judgeChange(rise, null, 200, true)).toMatchObject({ passed: false });
  });
});
