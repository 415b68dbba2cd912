import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { carriedTokenizer } from '../tokens/carried-tokenizer.ts';
import type { TimedTraceOptions } from './dataset.ts';
import { testContext } from './load-context.suite.ts';
import { timedTrace } from './timed-trace.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'omnimeter-timed-trace-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const labels = {
  timestamp: 'timestamp',
  inputLength: 'input_length',
  outputLength: 'output_length',
  hashIds: 'hash_ids',
};
const trace: TimedTraceOptions = { chunkHashSize: 16, secMultiplier: 1, labels, given: [] };

const load = (content: string, more = {}, around = {}, name = 'trace.jsonl') => {
  const path = join(folder, name);
  writeFileSync(path, content);
  const context = testContext(
    { name: 'timed_trace', path, timedTrace: trace, ...more },
    { numPrompts: 0, ...around },
  );
  return timedTrace.load(context).then((samples) => ({ samples, notes: context.notes }));
};
const jsonl = (...rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

/** The first two share two blocks of 512 tokens, as in Mooncake's trace; times are ms. */
const mooncake = jsonl(
  { timestamp: 27_000, input_length: 1300, output_length: 52, hash_ids: [46, 47, 48] },
  { timestamp: 30_500, input_length: 1100, output_length: 7, hash_ids: [46, 47, 2001] },
  { timestamp: 30_500, input_length: 20, output_length: 1, hash_ids: [9] },
);
const mooncakeOptions = { timedTrace: { ...trace, chunkHashSize: 512, secMultiplier: 0.001 } };

describe('a trace with hash ids', () => {
  test('becomes prompts of its lengths that share what its prompts shared', async () => {
    const tokenizer = await carriedTokenizer();
    const { samples, notes } = await load(mooncake, mooncakeOptions, { tokenizer });
    expect(notes).toEqual([]);
    const ids = samples.map(({ prompt }) => tokenizer.encode(String(prompt)));
    expect(ids.map(({ length }) => length)).toEqual([1300, 1100, 20]);
    expect(samples.map(({ promptTokens }) => promptTokens)).toEqual([1300, 1100, 20]);
    expect(samples.map(({ expectedOutputTokens }) => expectedOutputTokens)).toEqual([52, 7, 1]);
    expect(ids[1]?.slice(0, 1024)).toEqual(ids[0]?.slice(0, 1024));
    expect(ids[1]?.slice(1024)).not.toEqual(ids[0]?.slice(1024, 1100));
    expect(samples.map(({ traceTimestampS }) => traceTimestampS)).toEqual([0, 3.5, 3.5]);
    expect(samples.map(({ requestId }) => requestId)).toEqual(['bench-0', 'bench-1', 'bench-2']);
  });

  test('gives the same text for the same id in another trace, and another for another seed', async () => {
    const first = await load(mooncake, mooncakeOptions);
    const alone = await load(
      jsonl({ timestamp: 1, input_length: 512, output_length: 1, hash_ids: [46] }),
      mooncakeOptions,
    );
    const text = String(alone.samples[0]?.prompt);
    expect(String(first.samples[0]?.prompt).startsWith(text)).toBe(true);
    const other = await load(mooncake, mooncakeOptions, { seed: 8 });
    expect(String(other.samples[0]?.prompt).startsWith(text)).toBe(false);
  });

  test('says when the chunk size does not fit', async () => {
    const { samples, notes } = await load(mooncake, { timedTrace: { ...trace, secMultiplier: 0.001 } });
    expect(notes).toEqual([
      expect.stringMatching(
        /3 of 3 rows have another number of hash ids .*chunk-hash-size 16; 512 fits 3 of them/,
      ),
      expect.stringMatching(/3 prompts are shorter than recorded/),
    ]);
    expect(samples[0]?.promptTokens).not.toBe(1300);
  });

  test('says when timestamps look like milliseconds', async () => {
    const rows = jsonl(
      { timestamp: 0, input_length: 16, output_length: 1, hash_ids: [1] },
      { timestamp: 3_600_000, input_length: 16, output_length: 1, hash_ids: [1] },
    );
    expect((await load(rows)).notes).toEqual([
      expect.stringMatching(/takes 42 days.*milliseconds.*--timed-trace-sec-multiplier 0\.001/),
    ]);
  });

  test('takes the first rows, in the order of their times', async () => {
    const rows = jsonl(
      { timestamp: 5, input_length: 3, output_length: 1, hash_ids: [1] },
      { timestamp: 4, input_length: 4, output_length: 1, hash_ids: [2] },
      { timestamp: 1, input_length: 5, output_length: 1, hash_ids: [3] },
    );
    const { samples, notes } = await load(rows, {}, { numPrompts: 2 });
    expect(samples.map(({ traceTimestampS }) => traceTimestampS)).toEqual([0, 1]);
    expect(notes).toEqual([expect.stringMatching(/sent in the order of their times/)]);
    const untimed = await load(rows, { selfTimed: false }, { numPrompts: 9 });
    expect(untimed.samples.map((sample) => 'traceTimestampS' in sample)).toEqual([false, false, false]);
    expect(untimed.notes).toEqual([expect.stringMatching(/3 requests instead of 9/)]);
  });

  test('with fields of other names', async () => {
    const rows = jsonl({ t: 1, in: 3, out: 4, blocks: ['18446744073709551615'] });
    const own = { timestamp: 't', inputLength: 'in', outputLength: 'out', hashIds: 'blocks' };
    const { samples } = await load(rows, { timedTrace: { ...trace, labels: own } });
    expect(samples[0]?.expectedOutputTokens).toBe(4);
    await expect(load(rows)).rejects.toThrow(
      /trace\.jsonl:1: no field "timestamp"; the row has t, in, out, blocks\. --timed-trace-label-timestamp names it/,
    );
  });

  test('without a tokenizer has as many words', async () => {
    const { samples } = await load(mooncake, mooncakeOptions, { tokenizer: null });
    expect(String(samples[2]?.prompt).trim().split(' ')).toHaveLength(20);
    expect(samples[2]?.promptTokens).toBeNull();
  });

  test.each([
    [{ timestamp: 'soon' }, /"timestamp" is "soon", expected a number, or a date and time/],
    [{ input_length: 0 }, /"input_length" is 0, expected a whole number of tokens above 0/],
    [{ output_length: 1.5 }, /"output_length" is 1\.5, expected a whole number/],
    [{ output_length: 0 }, /"output_length" is 0, expected a whole number of tokens above 0/],
    [{ hash_ids: ['a'] }, /"hash_ids" is \["a"\], expected a list of whole numbers/],
    [{ hash_ids: [1, null] }, /"hash_ids" is \[1,null\], expected/],
    [{ hash_ids: [0.5] }, /"hash_ids" is \[0\.5\], expected/],
    [{ hash_ids: 'x' }, /"hash_ids" is "x", expected a list of whole numbers/],
  ])('a row with %j', async (wrong, message) => {
    const good = { timestamp: 1, input_length: 3, output_length: 4, hash_ids: [1] };
    const rows = jsonl(good, { ...good, ...wrong });
    await expect(load(rows)).rejects.toThrow(message);
    await expect(load(rows)).rejects.toThrow(/trace\.jsonl:2: /);
    const { samples, notes } = await load(rows, { skipInvalid: true });
    expect(samples).toHaveLength(1);
    expect(notes).toEqual([expect.stringMatching(/1 of 2 rows were left out/)]);
  });
});

describe('a trace as CSV', () => {
  const azure =
    'TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:17:03.9799600,37,4\r\n2023-11-16 18:17:04.0319600,9,13\r\n';

  test('of Azure is known by its columns', async () => {
    const tokenizer = await carriedTokenizer();
    const { samples, notes } = await load(azure, {}, { tokenizer }, 'azure.csv');
    expect(samples.map(({ prompt }) => tokenizer.count(String(prompt)))).toEqual([37, 9]);
    expect(samples.map(({ expectedOutputTokens }) => expectedOutputTokens)).toEqual([4, 13]);
    expect(samples[1]?.traceTimestampS).toBeCloseTo(0.052, 6);
    expect(notes).toEqual([expect.stringMatching(/read as Azure’s CSV/)]);
  });

  test('of BurstGPT too', async () => {
    const rows = 'Timestamp,Model,Request tokens,Response tokens\n5,GPT-4,7,8\n45,ChatGPT,9,10\n';
    const { samples } = await load(rows, {}, {}, 'burst.csv');
    expect(samples.map(({ traceTimestampS }) => traceTimestampS)).toEqual([0, 40]);
  });

  test('with columns of other names', async () => {
    const rows = 'at,tokens_in,tokens_out\n1,2,3\n';
    const given = ['timed-trace-label-timestamp'];
    const own = { ...labels, timestamp: 'at', inputLength: 'tokens_in', outputLength: 'tokens_out' };
    const options = { timedTrace: { ...trace, labels: own, given } };
    expect((await load(rows, options, {}, 'own.csv')).samples).toHaveLength(1);
    await expect(load(rows, {}, {}, 'own.csv')).rejects.toThrow(
      /own\.csv:1: no column "timestamp"; the file has at,/,
    );
  });

  test('without an output has no request to repeat', async () => {
    const rows = 'Timestamp,Model,Request tokens,Response tokens\n5,GPT-4,7,0\n45,ChatGPT,9,10\n';
    await expect(load(rows, {}, {}, 'burst.csv')).rejects.toThrow(
      /burst\.csv:2: "Response tokens" is "0", expected a whole number of tokens above 0/,
    );
    expect((await load(rows, { skipInvalid: true }, {}, 'burst.csv')).samples).toHaveLength(1);
  });

  test('says file and line of what is wrong', async () => {
    await expect(load(`${azure}never,1,2\r\n`, {}, {}, 'azure.csv')).rejects.toThrow(
      /azure\.csv:4: "TIMESTAMP" is "never"/,
    );
  });
});

test('a file is needed, with a row', async () => {
  await expect(timedTrace.load(testContext({ name: 'timed_trace' }))).rejects.toThrow(/needs --dataset-path/);
  await expect(load('')).rejects.toThrow(/no row to send/);
});
