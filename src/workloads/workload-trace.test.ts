import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DatasetOptions, LoadContext } from './dataset.ts';
import { testContext } from './load-context.suite.ts';
import { workloadTrace } from './workload-trace.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'omnimeter-trace-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
function contextOf(
  rows: readonly (object | string)[],
  options: Partial<DatasetOptions> = {},
  more: Partial<LoadContext> = {},
) {
  files += 1;
  const path = join(folder, `${files}.jsonl`);
  writeFileSync(path, rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n'));
  return testContext({ name: 'workload_trace', path, ...options }, { numPrompts: 0, ...more });
}

const chat = (text: string) => ({ model: 'm', messages: [{ role: 'user', content: text }], seed: 3 });

describe('workload_trace', () => {
  test('gives bodies as they are, in the order of their times', async () => {
    const rows = [
      {
        body: chat('second one'),
        timestamp: 102.5,
        headers: { 'x-tenant': 'a', Host: 'h' },
        completion_tokens: 4,
      },
      { body: { model: 'm', prompt: ['a b', 'c'] }, timestamp: 104, request_id: 'mine' },
      { body: chat('first'), timestamp: 100 },
    ];
    const samples = await workloadTrace.load(contextOf(rows));
    expect(samples).toMatchObject([
      { recordedBody: chat('first'), traceTimestampS: 0, requestId: 'bench-0', promptTokens: 2 },
      {
        recordedBody: chat('second one'),
        traceTimestampS: 2.5,
        requestId: 'bench-1',
        promptTokens: 3,
        expectedOutputTokens: 4,
        headers: [['x-tenant', 'a']],
      },
      {
        recordedBody: { model: 'm', prompt: ['a b', 'c'] },
        traceTimestampS: 4,
        requestId: 'mine',
        promptTokens: 4,
      },
    ]);
    // Read again whenever it is asked for, from a file that is closed.
    expect(samples[0]?.recordedBody).toEqual(samples[0]?.recordedBody);
  });

  test('takes dates as times', async () => {
    const rows = ['2026-01-31T12:00:00.250Z', '2026-01-31T13:00:00+01:00'].map((timestamp) => ({
      body: chat(timestamp),
      timestamp,
    }));
    const samples = await workloadTrace.load(contextOf(rows));
    expect(samples.map(({ prompt, traceTimestampS }) => [prompt, traceTimestampS])).toEqual([
      ['2026-01-31T13:00:00+01:00', 0],
      ['2026-01-31T12:00:00.250Z', 0.25],
    ]);
  });

  const mixed = [{ body: chat('a'), timestamp: 9 }, { body: chat('b') }];
  test.each<[string, readonly object[], boolean | null, (number | undefined)[], RegExp[]]>([
    ['every row has one', mixed.slice(0, 1), null, [0], []],
    ['--no-self-timed', mixed.slice(0, 1), false, [undefined], []],
    ['one is missing', mixed, null, [undefined, undefined], [/1 of 2 rows have no "timestamp"/]],
    ['all are missing', mixed.slice(1), null, [undefined], []],
  ])('keeps its times or not: %s', async (_, rows, selfTimed, times, notes) => {
    const context = contextOf(rows, { selfTimed });
    const samples = await workloadTrace.load(context);
    expect(samples.map(({ traceTimestampS }) => traceTimestampS)).toEqual(times);
    expect(context.notes).toEqual(notes.map((note) => expect.stringMatching(note)));
  });

  test('--self-timed takes a time in every row', async () => {
    await expect(workloadTrace.load(contextOf(mixed, { selfTimed: true }))).rejects.toThrow(
      '--self-timed needs a "timestamp" in every row, and 1 of 2 have none.',
    );
  });

  test('is cut to --num-prompts and never repeated', async () => {
    const rows = ['a', 'b', 'c'].map((text, at) => ({ body: chat(text), timestamp: 7 + at }));
    const cut = contextOf(rows, {}, { numPrompts: 2 });
    expect((await workloadTrace.load(cut)).map(({ prompt }) => prompt)).toEqual(['a', 'b']);
    const short = contextOf(rows, {}, { numPrompts: 9 });
    expect(await workloadTrace.load(short)).toHaveLength(3);
    expect(short.notes).toEqual([expect.stringContaining('3 requests instead of 9')]);
  });

  test('a rerank request is a query and documents', async () => {
    const [sample] = await workloadTrace.load(contextOf([{ body: { query: 'q', documents: ['d e', 'f'] } }]));
    expect(sample).toMatchObject({ prompt: ['q', 'd e', 'f'], promptTokens: 7 });
  });

  test('gives images and recordings to APIs that take forms', async () => {
    const rows = [
      { body: { prompt: 'p', image: ['data:a', { url: 'data:b' }] } },
      { body: { file: 'data:audio/wav;base64,AA==' } },
    ];
    expect((await workloadTrace.load(contextOf(rows))).map(({ media }) => media)).toEqual([
      [
        { type: 'image_url', image_url: { url: 'data:a' } },
        { type: 'image_url', image_url: { url: 'data:b' } },
      ],
      [{ type: 'audio_url', audio_url: { url: 'data:audio/wav;base64,AA==' } }],
    ]);
  });

  test.each<[string, object | string, RegExp]>([
    ['no body', { timestamp: 1 }, /:2: "body" is missing, expected the body of a request/],
    ['a time that is none', { body: {}, timestamp: 'noon' }, /:2: "timestamp" is "noon", expected seconds/],
    ['a header that is no text', { body: {}, headers: { a: 1 } }, /"headers\.a" is 1, expected text/],
    ['a count that is none', { body: {}, completion_tokens: -1 }, /"completion_tokens" is -1/],
    ['no JSON', '{"body"', /:2: not valid JSON/],
  ])('refuses %s, or leaves it out', async (_, row, message) => {
    const rows = [{ body: chat('good') }, row];
    await expect(workloadTrace.load(contextOf(rows))).rejects.toThrow(message);
    const context = contextOf(rows, { skipInvalid: true });
    expect(await workloadTrace.load(context)).toHaveLength(1);
    expect(context.notes).toEqual([expect.stringContaining('1 of 2 rows were left out')]);
  });

  test('refuses ids that come twice', async () => {
    const rows = [1, 2].map((timestamp) => ({ body: chat('x'), timestamp, request_id: 'same' }));
    await expect(workloadTrace.load(contextOf(rows))).rejects.toThrow('Duplicate request_id');
  });
});
