import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testContext } from './load-context.suite.ts';
import { isValidSequence, sharegpt } from './sharegpt.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'omnimeter-sharegpt-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
function fileOf(entries: unknown, text = JSON.stringify(entries, null, 2)): string {
  files += 1;
  const path = join(folder, `${files}.json`);
  writeFileSync(path, text);
  return path;
}

const words = (count: number, word = 'w'): string => Array.from({ length: count }, () => word).join(' ');
const talk = (prompt: string, answer: string, more: object = {}) => ({
  id: 'x',
  conversations: [
    { from: 'human', value: prompt },
    { from: 'gpt', value: answer },
    { from: 'human', value: 'thanks' },
  ],
  ...more,
});

/** The reference's rule, at and beside each of its borders. */
describe('the length filter', () => {
  test.each([
    [3, 100, false, false],
    [4, 100, false, true],
    [1024, 1024, false, true],
    [1025, 10, false, false],
    [10, 3, false, false],
    [10, 3, true, true],
    [10, 4, false, true],
    [1024, 1025, false, false],
    [48, 2000, true, true],
    [49, 2000, true, false],
  ])(
    'prompt %d and output %d (asked for: %s) is kept: %s',
    (promptTokens, outputTokens, outputIsAskedFor, kept) => {
      expect(isValidSequence({ promptTokens, outputTokens, outputIsAskedFor })).toBe(kept);
    },
  );
});

describe('sharegpt', () => {
  test('takes first turns, counted with special tokens, and their answers’ lengths', async () => {
    const path = fileOf([talk(words(5), words(9)), talk(words(4, 'é'), words(4))]);
    const samples = await sharegpt.load(testContext({ path, disableShuffle: true }, { numPrompts: 2 }));
    expect(samples).toEqual([
      { prompt: words(5), promptTokens: 6, expectedOutputTokens: 10, media: [], requestId: 'bench-0' },
      { prompt: words(4, 'é'), promptTokens: 5, expectedOutputTokens: 5, media: [], requestId: 'bench-1' },
    ]);
  });

  test('leaves out what is too short or too long, and says how many', async () => {
    const path = fileOf([
      talk(words(2), words(9)),
      talk(words(1024), words(9)),
      talk(words(9), words(2)),
      { id: 'none' },
      { conversations: [{ from: 'human', value: 'alone' }] },
      talk(words(10), words(10)),
    ]);
    const context = testContext({ path, noOversample: true, disableShuffle: true });
    const samples = await sharegpt.load(context);
    expect(samples.map(({ prompt }) => prompt)).toEqual([words(10)]);
    expect(context.notes[0]).toMatch(
      /5 of 6 conversations were left out: 2 with fewer than two turns, 3 by length/,
    );
    expect(context.notes[1]).toMatch(/1 requests instead of 20/);
  });

  test('keeps short answers when the output length is given', async () => {
    const path = fileOf([talk(words(9), 'no')]);
    const context = testContext({ path, sharegptOutputLen: 3 }, { numPrompts: 1 });
    const [sample] = await sharegpt.load(context);
    expect(sample?.expectedOutputTokens).toBe(3);
  });

  test('repeats conversations with ids of their own', async () => {
    const path = fileOf([talk(words(5), words(9)), talk(words(6), words(9))]);
    const context = testContext({ path }, { numPrompts: 30 });
    const samples = await sharegpt.load(context);
    expect(samples).toHaveLength(30);
    expect(samples.map(({ requestId }) => requestId)).toEqual(samples.map((_, i) => `bench-${i}`));
    expect(new Set(samples.slice(2).map(({ promptTokens }) => promptTokens))).toEqual(new Set([6, 7]));
    expect(context.notes).toEqual([expect.stringContaining('28 of 30 requests repeat others')]);
    expect(await sharegpt.load(testContext({ path }, { numPrompts: 30 }))).toEqual(samples);
  });

  test('shuffles by the seed, or keeps the order of the file', async () => {
    const path = fileOf(Array.from({ length: 50 }, (_, i) => talk(words(5 + i), words(9))));
    const lengths = async (seed: number, disableShuffle = false) =>
      (await sharegpt.load(testContext({ path, disableShuffle }, { seed, numPrompts: 50 }))).map(
        ({ promptTokens }) => promptTokens,
      );
    const inOrder = Array.from({ length: 50 }, (_, i) => 6 + i);
    expect(await lengths(1, true)).toEqual(inOrder);
    const first = await lengths(1);
    expect(first).not.toEqual(inOrder);
    expect([...first].sort((a, b) => Number(a) - Number(b))).toEqual(inOrder);
    expect(await lengths(1)).toEqual(first);
    expect(await lengths(2)).not.toEqual(first);
  });

  test('sends the image or video of a row along', async () => {
    const path = fileOf([
      talk(words(5), words(9), { image: 'pictures/cat.jpg' }),
      talk(words(5), words(9), { video: 'https://example.org/v.mp4' }),
    ]);
    const samples = await sharegpt.load(testContext({ path, disableShuffle: true }, { numPrompts: 2 }));
    expect(samples.map(({ media }) => media)).toEqual([
      [{ type: 'image_url', image_url: { url: 'file://pictures/cat.jpg' } }],
      [{ type: 'video_url', video_url: { url: 'https://example.org/v.mp4' } }],
    ]);
  });

  test('without a tokenizer leaves lengths open and filters nothing', async () => {
    const path = fileOf([talk('hi', 'yes'), talk(words(3000), 'no')]);
    const context = testContext({ path, disableShuffle: true }, { tokenizer: null, numPrompts: 2 });
    const samples = await sharegpt.load(context);
    expect(samples.map((s) => [s.promptTokens, s.expectedOutputTokens])).toEqual([
      [null, null],
      [null, null],
    ]);
    expect(context.notes).toEqual([expect.stringContaining('--sharegpt-output-len')]);
    const given = testContext({ path, sharegptOutputLen: 64 }, { tokenizer: null, numPrompts: 2 });
    expect((await sharegpt.load(given)).map((s) => s.expectedOutputTokens)).toEqual([64, 64]);
    expect(given.notes).toEqual([]);
  });

  test('reads one conversation per line too', async () => {
    const path = fileOf(
      null,
      `${JSON.stringify(talk(words(5), words(9)))}\n\n${JSON.stringify(talk(words(6), words(9)))}`,
    );
    expect(await sharegpt.load(testContext({ path }, { numPrompts: 2 }))).toHaveLength(2);
  });

  const good = JSON.stringify(talk(words(5), words(9)));
  test.each([
    [
      `[\n${good},\n{"conversations": [{"value": 1}, {"value": "b"}]}\n]`,
      /\.json:3: "conversations\[0\]\.value" is 1, expected text/,
    ],
    [
      `[\n${good},\n\n{"conversations": [{"value": "a"}, {}]}]`,
      /\.json:4: "conversations\[1\]\.value" is missing, expected text/,
    ],
    [`[${good}, {"conversations": {}}]`, /\.json:1: "conversations" is \{\}, expected a list/],
    [`[${good},\n{"conversations": oops}]`, /\.json:2: not valid JSON .*--skip-invalid/],
    [
      `[${good},\n${good.replace('"id"', '"image": 3, "id"')}]`,
      /\.json:2: "image" is 3, expected a URL or a path/,
    ],
    [`${good}\n{"a"`, /\.json:2: not valid JSON/],
  ])('stops at the bad row of %j, or leaves it out on request', async (text, message) => {
    const path = fileOf(null, text);
    await expect(sharegpt.load(testContext({ path }))).rejects.toThrow(message);
    await expect(sharegpt.load(testContext({ path }))).rejects.toMatchObject({ code: 'DATASET_ROW_INVALID' });
    const context = testContext({ path, skipInvalid: true, noOversample: true });
    expect(await sharegpt.load(context)).toHaveLength(1);
    expect(context.notes[0]).toContain('1 of 2 conversations were left out: 1 that do not parse');
  });

  test.each([
    [
      '[{"conversations": []}, {"conversat',
      /:1: the file ends within the list, after 1 entries.*Is the download complete/,
    ],
    ['[\n{},\n7]', /:3: entry 2 is not an object/],
    ['[]', /none of its 0 entries makes a request/],
    ['', /none of its 0 entries makes a request/],
  ])('refuses the file %j', async (text, message) => {
    const failure = sharegpt.load(testContext({ path: fileOf(null, text), skipInvalid: true }));
    await expect(failure).rejects.toThrow(message);
  });

  test('needs a file', async () => {
    await expect(sharegpt.load(testContext({}))).rejects.toThrow(/needs --dataset-path/);
    await expect(sharegpt.load(testContext({ path: join(folder, 'none.json') }))).rejects.toThrow(
      /--dataset-path .*none\.json.*no such file/,
    );
    await expect(sharegpt.load(testContext({ path: folder }))).rejects.toThrow(/not a file/);
  });
});
