import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { UsageError } from '../foundation/errors.ts';
import { encodeWav } from '../media/wav-encode.ts';
import type { HfOptions } from './dataset.ts';
import { hfSets } from './hf/hf-sets.ts';
import { hf } from './hf.ts';
import { type HubStandIn, hubStandIn, type StandInDatasets } from './hub/hub-stand-in.suite.ts';
import { testContext } from './load-context.suite.ts';
import type { Sample } from './sample.ts';
import { speedBench } from './speed-bench.ts';

const commit = 'd'.repeat(40);
const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
const jsonl = (...rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

type Column = { name: string; data: unknown[]; type?: 'STRING' | 'JSON' | 'BYTE_ARRAY' | 'DOUBLE' | 'INT64' };
const parquet = (...columnData: Column[]) =>
  new Uint8Array(parquetWriteBuffer({ columnData: columnData as never, rowGroupSize: 4 }));

/** As the hub's own library writes images and sounds: a struct of bytes and path. */
const mediaStruct = (name: string) => [
  { name, repetition_type: 'OPTIONAL', num_children: 2 },
  { name: 'bytes', type: 'BYTE_ARRAY', repetition_type: 'OPTIONAL' },
  { name: 'path', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
];
const mediaParquet = (name: string, media: readonly Uint8Array[], others: readonly Column[] = []) =>
  new Uint8Array(
    parquetWriteBuffer({
      columnData: [{ name, data: media.map((bytes) => ({ bytes, path: 'of.it' })) }, ...others] as never,
      schema: [
        { name: 'root', num_children: 1 + others.length },
        ...mediaStruct(name),
        ...others.map(({ name }) => ({
          name,
          type: 'BYTE_ARRAY',
          converted_type: 'UTF8',
          repetition_type: 'OPTIONAL',
        })),
      ] as never,
    }),
  );

let home: string;
let hubs: HubStandIn[];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'omnimeter-hf-'));
  hubs = [];
});
afterEach(async () => {
  for (const hub of hubs) await hub.close();
  rmSync(home, { recursive: true });
});

const hfDefaults: HfOptions = testContext({}).options.hf;

async function load(
  path: string,
  files: NonNullable<StandInDatasets[string]>,
  more: { hf?: Partial<HfOptions>; options?: object; context?: object } = {},
) {
  rmSync(join(home, 'hub'), { recursive: true, force: true });
  const hub = await hubStandIn({ [path.split('@')[0] ?? '']: files });
  hubs.push(hub);
  const context = testContext(
    {
      name: 'hf',
      path,
      disableShuffle: true,
      noOversample: true,
      hf: { ...hfDefaults, ...more.hf },
      ...more.options,
    },
    { numPrompts: 0, env: { HF_HOME: home, HF_ENDPOINT: hub.endpoint }, chatEndpoint: true, ...more.context },
  );
  return { samples: await hf.load(context), notes: context.notes, hub };
}

const main = (files: Record<string, Uint8Array | string>) => ({ main: { commit, files } });
/** As the hub has it: the files as they were given, and its own Parquet of them. */
const converted = (files: Record<string, Uint8Array | string>) => ({
  main: { commit, files: { 'README.md': '' } },
  'refs/convert/parquet': { commit: 'e'.repeat(40), files },
});
const prompts = (samples: readonly Sample[]) => samples.map(({ prompt }) => prompt);

describe('rows', () => {
  const turns = (from: number, count: number) =>
    jsonl(...Array.from({ length: count }, (_, i) => ({ turns: [`question ${from + i} of several words`] })));

  test('come from JSON Lines in the data set’s own files', async () => {
    const { samples, notes } = await load('philschmid/mt-bench', main({ 'train.jsonl': turns(0, 3) }));
    expect(prompts(samples)).toEqual([0, 1, 2].map((i) => `question ${i} of several words`));
    expect(samples.map(({ expectedOutputTokens }) => expectedOutputTokens)).toEqual([256, 256, 256]);
    expect(samples.map(({ requestId }) => requestId)).toEqual(['bench-0', 'bench-1', 'bench-2']);
    expect(notes).toContain(`hf: philschmid/mt-bench at commit ${commit}.`);
  });

  test('come from the hub’s Parquet where there is some, one split of it', async () => {
    const list = (i: number) => [[`a ${i} b c`, 'second']];
    const file = (i: number) => parquet({ name: 'turns', data: list(i), type: 'JSON' });
    const files = converted({
      'default/train/0000.parquet': file(0),
      'default/train/0001.parquet': file(1),
      'default/test/0000.parquet': file(9),
    });
    expect(prompts((await load('philschmid/mt-bench', files)).samples)).toEqual(['a 0 b c', 'a 1 b c']);
    const other = await load('philschmid/mt-bench', files, { hf: { split: 'test' } });
    expect(prompts(other.samples)).toEqual(['a 9 b c']);
    await expect(load('philschmid/mt-bench', files, { hf: { split: 'dev' } })).rejects.toThrow(
      /no split "dev" in its subset "default"\. It has: train, test/,
    );
    await expect(load('philschmid/mt-bench', files, { hf: { subset: 'x' } })).rejects.toThrow(
      /no subset "x"\. It has: default/,
    );
  });

  test('of a revision come from its files', async () => {
    const files = {
      ...main({ 'train.jsonl': turns(0, 1) }),
      v1: { commit: 'a'.repeat(40), files: { 'train.jsonl': turns(7, 1) } },
    };
    const { samples } = await load('philschmid/mt-bench@v1', files);
    expect(prompts(samples)).toEqual(['question 7 of several words']);
  });

  test('are the same for the same seed, and only the files that are needed are fetched', async () => {
    const files = main(
      Object.fromEntries([0, 1, 2, 3].map((i) => [`data/train-${i}.jsonl`, turns(i * 100, 40)])),
    );
    const run = async (seed: number, hfOptions: Partial<HfOptions> = {}) => {
      const { samples, hub } = await load('philschmid/mt-bench', files, {
        hf: hfOptions,
        options: { disableShuffle: false },
        context: { numPrompts: 30, seed },
      });
      const fetched = new Set(hub.seen.flatMap(({ path }) => (path.includes('/resolve/') ? [path] : [])));
      return { prompts: prompts(samples), fetched: fetched.size };
    };
    const first = await run(1);
    expect(await run(1)).toEqual(first);
    expect(first.fetched).toBe(1);
    expect((await run(2)).prompts).not.toEqual(first.prompts);
    const all = await run(1, { noStream: true });
    expect(all.fetched).toBe(4);
    const files4 = new Set(
      all.prompts.map((text) => Math.floor(Number(/\d+/.exec(String(text))?.[0]) / 100)),
    );
    expect(files4.size).toBe(4);
  });

  test('that are wrong are said by file and row', async () => {
    const bad = jsonl({ turns: ['fine'] }, { turns: [] });
    await expect(load('philschmid/mt-bench', main({ 'train.jsonl': bad }))).rejects.toThrow(
      /philschmid\/mt-bench@dddddddddddd:train\.jsonl:2: "turns\[0\]" is missing, expected text/,
    );
    const skipped = await load('philschmid/mt-bench', main({ 'train.jsonl': bad }), {
      options: { skipInvalid: true },
    });
    expect(skipped.samples).toHaveLength(1);
    expect(skipped.notes).toContain('hf: of 2 rows were left out: 1 that do not parse.');
    const file = parquet({ name: 'turns', data: ['x', 'y'], type: 'STRING' });
    await expect(load('philschmid/mt-bench', main({ 'train.parquet': file }))).rejects.toThrow(
      /mt-bench@dddddddddddd:train\.parquet: row 1: "turns\[0\]"/,
    );
    await expect(load('philschmid/mt-bench', main({ 'train.jsonl': 'no json\n' }))).rejects.toThrow(
      /mt-bench@dddddddddddd:train\.jsonl:1: not valid JSON/,
    );
    await expect(load('philschmid/mt-bench', main({ 'train.parquet': 'not Parquet' }))).rejects.toThrow(
      /train\.parquet: not a Parquet file/,
    );
  });

  test('may lie on this machine', async () => {
    const folder = join(home, 'mine', 'data');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'train-0.jsonl'), turns(3, 2));
    const local = (path: string, hfOptions: Partial<HfOptions> = { name: 'philschmid/mt-bench' }) =>
      hf.load(
        testContext(
          { name: 'hf', path, disableShuffle: true, hf: { ...hfDefaults, ...hfOptions } },
          { numPrompts: 2, chatEndpoint: true },
        ),
      );
    const expected = ['question 3 of several words', 'question 4 of several words'];
    expect(prompts(await local(join(home, 'mine')))).toEqual(expected);
    expect(prompts(await local(join(folder, 'train-0.jsonl')))).toEqual(expected);
    await expect(local(folder, {})).rejects.toThrow(/a place on this machine, so --hf-name must say/);
    await expect(local('/nowhere/at/all')).rejects.toThrow(
      /no such file or folder, and not a data set’s|data set's id/,
    );
  });
});

describe('what each data set sends', () => {
  test('VisionArena: the first message and image', async () => {
    const rows = parquet(
      { name: 'conversation', data: [[[{ role: 'user', content: 'What is it?' }]]], type: 'JSON' },
      { name: 'images', data: [[{ path: 'a.png' }]], type: 'JSON' },
    );
    const { samples } = await load('lmarena-ai/VisionArena-Chat', {
      ...main({ 'a.png': png, 'data/train-0.parquet': rows }),
    });
    expect(samples[0]).toMatchObject({ prompt: 'What is it?', expectedOutputTokens: 128 });
    expect(samples[0]?.media[0]).toMatchObject({
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${Buffer.from(png).toString('base64')}` },
    });
  });

  test('MMStar: the question without options, with the bytes of the image', async () => {
    const question = { name: 'question', data: ['Which one?\nOptions: A: x, B: y'] };
    const rows = mediaParquet('image', [png], [question]);
    const { samples } = await load('Lin-Chen/MMStar', main({ 'val.parquet': rows }));
    expect(samples[0]?.prompt).toBe('Which one?');
    expect(samples[0]?.media[0]).toMatchObject({
      image_url: { url: expect.stringContaining('image/png;base64,') },
    });
  });

  test('MMVU: question, choices and the address of the video', async () => {
    const video = 'https://example.org/0.mp4';
    const rows = jsonl({ question: 'Why?', choices: { A: 'this', B: 'that' }, video });
    const { samples } = await load('yale-nlp/MMVU', main({ 'validation.json': rows }));
    expect(samples[0]).toMatchObject({
      prompt: 'Why? A.this B.that',
      media: [{ type: 'video_url', video_url: { url: video } }],
    });
  });

  test('conversations: length of the answer, filter by length, flag', async () => {
    const row = (prompt: string, answer: string) => ({
      conversations: [{ value: prompt }, { value: answer }],
    });
    const rows = jsonl(
      row('one two three four', 'five six seven eight nine'),
      row('short', 'five six seven eight'),
      { conversations: [] },
    );
    const files = main({ 'train.jsonl': rows });
    const { samples, notes } = await load('Aeala/ShareGPT_Vicuna_unfiltered', files);
    expect(samples.map(({ expectedOutputTokens }) => expectedOutputTokens)).toEqual([6]);
    expect(notes).toContain('hf: of 3 rows were left out: 1 by length, 1 with fewer than two turns.');
    const asked = await load('Aeala/ShareGPT_Vicuna_unfiltered', files, { hf: { outputLen: 3 } });
    expect(asked.samples.map(({ expectedOutputTokens }) => expectedOutputTokens)).toEqual([3, 3]);
  });

  test('code: InstructCoder, Blazedit, next edits, HumanEval', async () => {
    const instruct = await load(
      'likaixin/InstructCoder',
      main({ 'train.json': JSON.stringify([{ input: 'x = 1', instruction: 'Double it.' }]) }),
    );
    expect(instruct.samples[0]).toMatchObject({
      prompt: 'x = 1\n\nDouble it. Just output the code, do not include any explanation.',
      expectedOutputTokens: 200,
    });
    const edits = jsonl(
      { code: 'a', change_request: 'r', norm_distance: 0.1 },
      { code: 'b', change_request: 'r', norm_distance: 0.5 },
    );
    const blaze = await load('vdaita/edit_5k_char', main({ 'train.jsonl': edits }), {
      hf: { blazeditDistance: { min: 0.3, max: 0.6 } },
    });
    expect(prompts(blaze.samples)).toEqual([expect.stringContaining('```python\nb\n```')]);
    expect(blaze.notes).toContain('hf: of 2 rows were left out: 1 by their edit distance.');
    const zeta = await load(
      'zed-industries/zeta',
      main({ 'train.jsonl': jsonl({ events: 'E', input: 'I', output: 'one two' }) }),
    );
    expect(zeta.samples[0]?.prompt).toMatch(
      /### User Edits:\n\nE\n\n### User Excerpt:\n\nI\n\n### Response:\n\n$/,
    );
    expect(zeta.samples[0]?.expectedOutputTokens).toBe(3);
    const human = await load(
      'openai/openai_humaneval',
      main({ 'test.jsonl': jsonl({ prompt: 'def f ( x ):', canonical_solution: 'return x + 1' }) }),
    );
    expect(human.samples[0]?.expectedOutputTokens).toBe(5);
  });

  test('questions: AIMO up to long solutions, MLPerf as two messages, GSM8K of its subset', async () => {
    const long = 'w '.repeat(5000);
    const problem = await load(
      'AI-MO/NuminaMath-CoT',
      main({ 'data/train-0.jsonl': jsonl({ problem: 'one two three four', solution: long }) }),
    );
    expect(problem.samples[0]?.expectedOutputTokens).toBe(5001);
    const row = { system_prompt: 'Be brief.', question: 'Who are you then?', output: 'a b c d e' };
    const files = main({ 'train.jsonl': jsonl(row) });
    const chat = await load('mgoin/mlperf-inference-llama2-data', files);
    expect(chat.samples[0]).toMatchObject({
      chatMessages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Who are you then?' },
      ],
      expectedOutputTokens: 6,
    });
    const plain = await load('mgoin/mlperf-inference-llama2-data', files, {
      context: { chatEndpoint: false },
    });
    expect(plain.samples[0]?.prompt).toBe('<system> Be brief. <user> Who are you then?');
    const gsm = await load(
      'openai/gsm8k',
      main({
        'main/test-0.jsonl': jsonl({ question: 'How many are there?', answer: 'a b c d' }),
        'socratic/test-0.jsonl': jsonl({ question: 'Another one of those?', answer: 'a b c d' }),
      }),
    );
    expect(prompts(gsm.samples)).toEqual(['How many are there?']);
  });

  test('recordings: the file itself, its length, limits', async () => {
    const wav = (seconds: number) =>
      encodeWav(new Uint8Array(16_000 * seconds), { sampleRateHz: 8000, channels: 1 });
    const rows = mediaParquet('audio', [wav(1), wav(3)]);
    const { samples, notes } = await load('openslr/librispeech_asr', main({ 'clean/test-0.parquet': rows }), {
      hf: { subset: 'clean', asrAudioLenS: { min: 0, max: 2 } },
      context: { chatEndpoint: false },
    });
    expect(samples).toHaveLength(1);
    expect(samples[0]).toMatchObject({
      prompt: '<|startoftranscript|><|en|><|transcribe|><|notimestamps|>',
      inputAudioDurationS: 1,
      expectedOutputTokens: 128,
    });
    expect(samples[0]?.media[0]).toMatchObject({ type: 'audio_url' });
    expect(notes).toContain('hf: of 2 rows were left out: 1 by their length.');
  });

  test('function calls: messages and tools, categories in turn', async () => {
    const row = (id: number) => ({
      question: [[{ role: 'user', content: `call ${id}` }]],
      function: [
        {
          name: 'math.area',
          description: 'd',
          parameters: { type: 'dict', properties: { r: { type: 'float' }, any: { type: 'any' } } },
        },
      ],
    });
    const files = main({
      'BFCL_v3_simple.json': jsonl(row(1), row(2)),
      'BFCL_v3_multiple.json': jsonl(row(11)),
      'possible_answer/BFCL_v3_simple.json': jsonl({}),
    });
    const path = 'gorilla-llm/Berkeley-Function-Calling-Leaderboard';
    const asked = { hf: { bfclCategories: ['simple', 'multiple'] } };
    const { samples } = await load(path, files, asked);
    expect(prompts(samples)).toEqual(['call 1', 'call 11', 'call 2']);
    expect(samples[0]?.bodyOverrides).toEqual({
      tools: [
        {
          type: 'function',
          function: {
            name: 'math_area',
            description: 'd',
            parameters: { type: 'object', properties: { r: { type: 'number' }, any: { type: 'string' } } },
          },
        },
      ],
      tool_choice: 'auto',
    });
    await expect(load(path, files, { hf: { bfclCategories: ['nope'] } })).rejects.toThrow(
      /--bfcl-categories nope: no such category\. There are: multiple, simple/,
    );
    await expect(load(path, files, { ...asked, context: { chatEndpoint: false } })).rejects.toThrow(
      /chat backend/,
    );
  });
});

describe('what cannot be is refused', () => {
  test('an unknown data set, with those that are known', async () => {
    await expect(load('philschmid/mt-bench2', main({}))).rejects.toThrow(
      /Unsupported dataset path: philschmid\/mt-bench2\. Did you mean philschmid\/mt-bench\?.*lmarena-ai\/VisionArena-Chat/s,
    );
  });

  test('no data set at all', async () => {
    await expect(hf.load(testContext({ name: 'hf' }))).rejects.toThrow(
      /--dataset-name hf needs --dataset-path/,
    );
  });

  test('an endpoint that takes no images, before anything is fetched', async () => {
    const tryOut = () => {
      throw new UsageError('no images here');
    };
    const context = testContext(
      { name: 'hf', path: 'Lin-Chen/MMStar' },
      { tryOut, env: { HF_HOME: home, HF_ENDPOINT: 'http://127.0.0.1:1' } },
    );
    await expect(hf.load(context)).rejects.toThrow('no images here');
  });

  test('ids are of one data set each', () => {
    const ids = hfSets.flatMap((set) => set.ids);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('speed_bench', () => {
  const files = main({
    'qualitative/test-0.jsonl': jsonl(
      { turns: ['first turn', 'second'], category: 'coding' },
      { turns: [{ role: 'user', content: 'as a message' }], category: 'math' },
    ),
    'throughput_1k/test-0.jsonl': jsonl({ turns: ['long'], category: 'low' }),
  });
  const run = async (speed: object = {}) => {
    const hub = await hubStandIn({ 'nvidia/SPEED-Bench': files });
    hubs.push(hub);
    const speedOptions = { subset: 'qualitative', outputLen: 4096, category: null, ...speed };
    const context = testContext(
      { name: 'speed_bench', speedBench: speedOptions, disableShuffle: true },
      { numPrompts: 0, env: { HF_HOME: home, HF_ENDPOINT: hub.endpoint }, chatEndpoint: true },
    );
    return await speedBench.load(context);
  };

  test('is fetched by subset and category', async () => {
    expect(prompts(await run())).toEqual(['first turn', 'as a message']);
    expect(prompts(await run({ subset: 'throughput_1k' }))).toEqual(['long']);
    expect(prompts(await run({ category: 'math' }))).toEqual(['as a message']);
    await expect(run({ category: 'codin' })).rejects.toThrow(
      /--speed-bench-category codin: no row has this category\. Did you mean coding\? There are: coding, math/,
    );
  });
});
