import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { SampleChoice } from '../../accuracy/duplex-eval/eval-sample.ts';
import { type HubStandIn, hubStandIn } from '../../workloads/hub/hub-stand-in.suite.ts';
import { evalSamples } from './eval-samples.ts';

const commit = 'd'.repeat(40);
const id = 'Hothan/Omni-DuplexEval';
const all: SampleChoice = { split: 'all', family: 'all', ids: [], limit: null };
const video = (mark: number) => Uint8Array.from([0, 0, 0, 24, 0x66, 0x74, 0x79, 0x70, mark]);

/** As the hub's own library writes media: a struct of bytes and path. */
const parquet = (rows: readonly { id: string; video: Uint8Array; task?: string }[]) =>
  new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        { name: 'video', data: rows.map((row) => ({ bytes: row.video, path: `${row.id}.mp4` })) },
        { name: 'id', data: rows.map((row) => row.id) },
        { name: 'question_text', data: rows.map(() => 'Describe.') },
      ] as never,
      schema: [
        { name: 'root', num_children: 3 },
        { name: 'video', repetition_type: 'OPTIONAL', num_children: 2 },
        { name: 'bytes', type: 'BYTE_ARRAY', repetition_type: 'OPTIONAL' },
        { name: 'path', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
        ...['id', 'question_text'].map((name) => ({
          name,
          type: 'BYTE_ARRAY',
          converted_type: 'UTF8',
          repetition_type: 'OPTIONAL',
        })),
      ] as never,
    }),
  );

let home: string;
let hub: HubStandIn | null;
let notes: string[];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'omnimeter-eval-samples-'));
  hub = null;
  notes = [];
});
afterEach(async () => {
  await hub?.close();
  rmSync(home, { recursive: true });
});

async function load(
  files: Readonly<Record<string, Uint8Array | string>>,
  choice: Partial<SampleChoice> = {},
  mediaRoot: string | null = null,
) {
  hub ??= await hubStandIn({ [id]: { main: { commit, files } } });
  const env = { HF_HOME: home, XDG_CACHE_HOME: home, HF_ENDPOINT: hub.endpoint };
  return evalSamples(
    { dataset: id, mediaRoot, choice: { ...all, ...choice } },
    { env, note: (line) => notes.push(line) },
  );
}

describe('Omni-DuplexEval on the hub', () => {
  const files = {
    'data/RTD_OCR-00000-of-00001.parquet': parquet([
      { id: 'a', video: video(1) },
      { id: 'b', video: video(2) },
    ]),
    'data/RTD_Omni-00000-of-00001.parquet': parquet([{ id: 'a', video: video(3) }]),
  };

  test('gives the rows of a split, with their videos as files', async () => {
    const samples = await load(files, { split: 'RTD_OCR' });
    expect(samples).toMatchObject([
      { id: 'a', split: 'RTD_OCR', family: 'rtd', taskType: 'OCR', questionText: 'Describe.' },
      { id: 'b', split: 'RTD_OCR', questionAudioPath: null },
    ]);
    expect(samples.map(({ videoPath }) => readFileSync(videoPath))).toEqual([
      Buffer.from(video(1)),
      Buffer.from(video(2)),
    ]);
    for (const { videoPath } of samples) expect(videoPath).toMatch(/\.mp4$/);
    expect(notes).toContainEqual(expect.stringContaining(`${id} at commit ${commit}`));
    expect(notes).toContainEqual(expect.stringMatching(/media of the data set are written to .*duplex-eval/));
  });

  test('writes the media of chosen samples alone, and none twice', async () => {
    await load(files, { split: 'RTD_OCR', ids: ['b'] });
    const kept = () => readdirSync(join(home, 'omnimeter', 'duplex-eval'));
    expect(kept()).toHaveLength(1);
    expect(await load(files, { split: 'RTD_OCR', limit: 1 })).toHaveLength(1);
    await load(files, { split: 'RTD_OCR' });
    expect(kept()).toHaveLength(2);
  });

  test('names the splits there are where one is missing', async () => {
    await expect(load(files, { split: 'RTD_counting' })).rejects.toThrow(
      /no file of the split "RTD_counting".*RTD_OCR-00000/,
    );
    await expect(load(files, { split: 'RTD_OCR', ids: ['z'] })).rejects.toThrow(/no sample is chosen/);
  });

  const rows = [
    { id: '1', split: 'RTD_OCR', video: 'v/1.mp4', question_audio: 'q/1.wav' },
    { id: '2', split: 'PR_correction', video: 'v/2.mp4', answer: 'x', reminder_1: 3 },
  ];
  const withManifest = {
    'manifest.jsonl': rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
    'v/1.mp4': video(1),
    'v/2.mp4': video(2),
    'q/1.wav': 'RIFF',
  };

  test('is read by its manifest where it has one, with the files that this names', async () => {
    const samples = await load(withManifest);
    // In order of the splits' names.
    expect(samples).toMatchObject([
      { id: '2', family: 'pr', taskType: 'correction', answers: ['x', ''], remindersS: [3, null] },
      { id: '1', family: 'rtd' },
    ]);
    expect(readFileSync(samples[1]?.videoPath ?? '')).toEqual(Buffer.from(video(1)));
    expect(readFileSync(samples[1]?.questionAudioPath ?? '', 'utf8')).toBe('RIFF');
    expect(hub?.seen.filter(({ path }) => path.endsWith('v/2.mp4'))).toHaveLength(1);
  });

  test('two samples of one name are refused before anything is made of them', async () => {
    const twice = [
      { id: 'a', video: video(1) },
      { id: 'a', video: video(2) },
    ];
    await expect(
      load({ 'data/RTD_OCR-00000-of-00001.parquet': parquet(twice) }, { split: 'RTD_OCR' }),
    ).rejects.toThrow(/split 'RTD_OCR' has a sample 'a' already, in .*RTD_OCR-00000/);
  });

  test('fetches no media that lie below --media-root', async () => {
    const [sample] = await load(withManifest, { family: 'rtd' }, '/media');
    expect(sample).toMatchObject({ videoPath: '/media/v/1.mp4', questionAudioPath: '/media/q/1.wav' });
    expect(hub?.seen.filter(({ path }) => path.includes('/v/'))).toEqual([]);
  });

  test('whose rows are other than known says what they hold', async () => {
    const odd = { 'data/RTD_OCR.jsonl': '{"clip": "x", "key": 1}\n' };
    await expect(load(odd, { split: 'RTD_OCR' })).rejects.toThrow(
      /RTD_OCR\.jsonl:1: a row needs id, split and video; it has clip, key\./,
    );
  });
});

test('a manifest of this machine is none of the hub’s business', async () => {
  writeFileSync(join(home, 'm.json'), JSON.stringify([{ id: 1, split: 'RTD_OCR', video: 'v.mp4' }]));
  const tools = { env: {}, note: (line: string) => notes.push(line) };
  const [sample] = await evalSamples({ dataset: join(home, 'm.json'), mediaRoot: null, choice: all }, tools);
  expect(sample?.videoPath).toBe(join(home, 'v.mp4'));
  await expect(
    evalSamples({ dataset: join(home, 'none.json'), mediaRoot: null, choice: all }, tools),
  ).rejects.toThrow(/no such file or folder, and it is not a data set's id/);
  expect(notes).toEqual([]);
});
