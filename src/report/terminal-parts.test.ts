import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { attemptOf, omniFacts, requestOf } from '../metrics/metric-records.suite.ts';
import { summarize } from '../metrics/summarize.ts';
import type { RequestRecord } from '../records/request-record.ts';
import { renderFailureGroups } from './failure-groups.ts';
import { renderReplyNotes } from './reply-notes.ts';
import { percentileName, titleLine, valueLine } from './report-lines.ts';
import { dateLabelOf, resultFileName } from './result-file-name.ts';
import { sanitizeForTerminal } from './sanitize-for-terminal.ts';

describe('lines', () => {
  it('centres a title, the odd place to the right', () => {
    expect(titleLine('Time to First Token', '-')).toBe(
      `${'-'.repeat(15)}Time to First Token${'-'.repeat(16)}`,
    );
  });

  it('leaves a title alone that is too long', () => {
    const title = ` Stage 0 (${'x'.repeat(60)}) `;
    expect(titleLine(title, '=')).toBe(title);
  });

  it('prints what Python prints', () => {
    // python3 -c "print('{:<40} {:<10.2f}'.format('Mean X:', 4.125))"
    expect(valueLine('Mean X:', 4.125, 'fixed')).toBe(`Mean X:${' '.repeat(34)}4.12      `);
    expect(valueLine('Rate:', 0.98765, 'percent').trimEnd().endsWith(' 98.77%')).toBe(true);
    expect(valueLine('Count:', 7_453_260, 'integer').trimEnd().endsWith(' 7453260')).toBe(true);
    expect(valueLine('Unknown:', null, 'percent').trimEnd().endsWith(' n/a')).toBe(true);
  });

  it('names percentiles', () => {
    expect([99, 99.9, 50, 0.5].map(percentileName)).toEqual(['99', '99.9', '50', '0.5']);
  });
});

describe('result file name', () => {
  const date = '20260102-030405';
  it.each([
    [
      'the vector of the reference',
      { requestRate: 10, maxConcurrency: 8, modelId: 'a/b-c', name: 'vllm' },
      `vllm-10.0qps-concurrency8-b-c-${date}.json`,
    ],
    ['no rate', { name: 'openai-chat-omni' }, `openai-chat-omni-infqps-m-${date}.json`],
    [
      'a path for a backend',
      { name: '/v1/images/generations' },
      `v1-images-generations-infqps-m-${date}.json`,
    ],
    ['a path for a label', { label: '../../etc/x', requestRate: 0.5 }, `..-..-etc-x-0.5qps-m-${date}.json`],
    ['a model folder', { name: 'vllm', modelId: '/models/qwen/' }, `vllm-infqps-qwen-${date}.json`],
    [
      'a ramp',
      { name: 'vllm', rampUp: { strategy: 'linear', startRps: 1, endRps: 20 } as const, maxConcurrency: 4 },
      `vllm-ramp-up-linear-1qps-20qps-concurrency4-m-${date}.json`,
    ],
  ])('with %s', (_, { name, ...changes }: { name?: string } & Parameters<typeof omniFacts>[0], expected) => {
    const facts = omniFacts(changes);
    const endpoint = { ...facts.endpoint, name: name ?? facts.endpoint.name };
    expect(resultFileName({ ...facts, endpoint }, date)).toBe(expected);
  });

  it('dates in local time', () => {
    expect(dateLabelOf(new Date(2026, 0, 2, 3, 4, 5))).toBe(date);
  });
});

describe('text of servers', () => {
  it.each([
    ['a colour', '\u001b[31mred\u001b[0m', 'red'],
    ['a cleared screen', 'a\u001b[2J\u001b[Hb', 'ab'],
    ['a window title', '\u001b]0;owned\u0007x', ']0;owned x'],
    ['one-byte escapes', 'a\u009b31mb', 'a 31mb'],
    ['lines', 'one\r\n\ttwo', 'one two'],
    ['reordered text', 'a\u202eb', 'a b'],
    ['half a character', 'a\ud800b', 'a b'],
    ['other scripts', '错误：模型未找到 🚫', '错误：模型未找到 🚫'],
  ])('loses %s', (_, text, expected) => {
    expect(sanitizeForTerminal(text)).toBe(expected);
  });

  it('is cut to the length that is asked for', () => {
    expect(sanitizeForTerminal('x'.repeat(500), 10)).toBe(`${'x'.repeat(9)}…`);
    expect(Array.from(sanitizeForTerminal('🚫'.repeat(500), 10))).toHaveLength(10);
  });

  property([fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 50 })])(
    'is one line without controls',
    (text, maxLength) => {
      const clean = sanitizeForTerminal(text, maxLength);
      expect(clean).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
      expect(Array.from(clean).length).toBeLessThanOrEqual(maxLength);
    },
  );
});

describe('failures after the report', () => {
  const failing = (index: number, message: string, body: string | null = null): RequestRecord =>
    requestOf({}, { index, outcome: { ok: false, kind: 'http', status: 500, message, body } });

  it('are none where nothing failed', () => {
    expect(renderFailureGroups(summarize([requestOf({ endMs: 1 })], omniFacts()))).toEqual([]);
  });

  it('show the five most frequent and count the others', () => {
    const causes = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta', 'eta'];
    const records = [...causes, 'zeta', 'zeta'].map((cause, index) => failing(index, cause));
    expect(renderFailureGroups(summarize(records, omniFacts()))).toEqual([
      'Failed requests by cause:',
      '  3 × http, status 500: zeta',
      '  1 × http, status 500: alpha',
      '  1 × http, status 500: beta',
      '  1 × http, status 500: gamma',
      '  1 × http, status 500: delta',
      '  2 × other causes (2); --save-result lists every failed request',
    ]);
  });

  it('quote the reply unless the message does', () => {
    const lines = renderFailureGroups(
      summarize(
        [failing(0, 'HTTP 500', 'out of\nmemory'), failing(1, 'HTTP 500: boom', 'boom')],
        omniFacts(),
      ),
    );
    expect(lines.slice(1)).toEqual([
      '  1 × http, status 500: HTTP 500 (reply: out of memory)',
      '  1 × http, status 500: HTTP 500: boom',
    ]);
  });
});

describe('notes after the report', () => {
  it('say what was dropped, not decoded or cut short', () => {
    const audio = { format: 'wav', sampleRateHz: 24_000, channels: 1, sampleBytes: 2, bytes: 9 };
    const records = [
      requestOf(
        { endMs: 1 },
        {
          expectedOutputTokens: 100,
          outputTokens: 43,
          audio: { ...audio, frames: 9, durationS: 1, droppedChunks: 2, note: 'expected 24000 Hz' },
        },
      ),
      requestOf(
        { endMs: 1 },
        {
          index: 1,
          audio: { ...audio, frames: null, durationS: null, droppedChunks: 0, note: 'not an MP3' },
        },
      ),
    ];
    expect(renderReplyNotes(summarize(records, omniFacts()))).toEqual([
      '2 audio chunks were left out (expected 24000 Hz). Audio frames/duration may be undercounted.',
      'The audio of 1 replies could not be decoded (not an MP3); their duration and RTF are not known.',
      'Replies had 43.0 tokens on average where 100.0 were asked for. If lengths should be exact, see --ignore-eos.',
    ]);
  });

  it('say what a job’s latency holds, and which images do not count', () => {
    const attempt = attemptOf(0, 100);
    const [exchange] = attempt.exchanges;
    if (!exchange) throw new Error('an attempt has an exchange');
    const polls = [2100, 4100].map((sendMs) => ({ ...exchange, method: 'GET', sendMs, endMs: sendMs }));
    const record = requestOf(
      { endMs: 4100 },
      {
        attempts: [{ ...attempt, endMs: 4100, exchanges: [exchange, ...polls] }],
        image: { count: 1, pixels: 9, sizedCount: 1, broken: 2, generationMs: null, denoiseStepMs: null },
      },
    );
    const video = (generationMs: number | null) => ({
      ...record,
      video: { durationS: 2, frames: 48, generationMs },
    });
    const [images, jobs] = renderReplyNotes(summarize([video(1500)], omniFacts()));
    expect(images).toBe('2 items of image replies hold no image that decodes and were not counted.');
    expect(jobs).toMatch(
      /^Jobs were asked after every 2\.00 s on average: their E2EL is late by up to that\. VIDEO_RTF and VIDEO_GENERATION are the server's own times\./,
    );
    const lastNote = (...records: (typeof record)[]) =>
      renderReplyNotes(summarize(records, omniFacts())).at(-1);
    expect(lastNote(video(null))).toContain(
      'The server reported no generation time of these jobs: their VIDEO_RTF is made of E2EL and contains the polling.',
    );
    expect(lastNote(video(null), { ...video(1500), index: 1 })).toContain(
      'The server reported no generation time of 1 of 2 jobs: their VIDEO_RTF',
    );
  });

  it('count audio that may have been cut', () => {
    const audio = {
      format: 'opus',
      sampleRateHz: 48_000,
      channels: 1,
      sampleBytes: null,
      frames: 48,
      durationS: 1,
      bytes: 9,
    };
    const cut = { ...audio, droppedChunks: 0, note: 'its last Ogg page is missing' };
    const records = [cut, { ...cut, note: null }].map((each, index) =>
      requestOf({ endMs: 1 }, { index, audio: each }),
    );
    expect(renderReplyNotes(summarize(records, omniFacts()))).toEqual([
      'The audio of 1 replies may be incomplete or misread (its last Ogg page is missing); it was counted as it came.',
    ]);
  });

  it('are none where all is well', () => {
    expect(renderReplyNotes(summarize([requestOf({ endMs: 1 })], omniFacts()))).toEqual([]);
  });
});
