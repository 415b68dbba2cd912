import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratchFolder, turns, writeCase } from './evaluate.suite.ts';
import { findEvaluationCases } from './find-evaluation-cases.ts';

test('cases are found by the manifest, elsewhere than they were made too', () => {
  const dir = scratchFolder();
  const made = writeCase(dir, '1q1a_math__videos__0001--aa', 'nested', turns, []);
  const dataset = join(dir, 'dataset');
  mkdirSync(join(dataset, 'data', '1q1a_math', 'annotations'), { recursive: true });
  const moved = join(dataset, 'data', '1q1a_math', 'annotations', '0001.json');
  writeFileSync(moved, '[]');
  const row = {
    sample_id: made.sampleId,
    video: '/gone/1q1a_math/videos/0001.mp4',
    gt_json: '/gone/1q1a_math/annotations/0001.json',
    model_json: '/gone/out/1q1a_math/videos__0001--aa/wav_transcript.json',
    scene_type: 'nested',
  };
  writeFileSync(join(dir, 'official_eval_manifest.jsonl'), `${JSON.stringify(row)}\n\n`);
  writeFileSync(join(dir, 'batch_summary.json'), '{"total": 4}');
  const annotationPath = row.gt_json;
  expect(findEvaluationCases(dir, null)).toEqual({ cases: [{ ...made, annotationPath }], skipped: 3 });
  expect(findEvaluationCases(dir, dataset).cases).toEqual([{ ...made, annotationPath: moved }]);
  writeFileSync(join(dir, 'official_eval_manifest.jsonl'), JSON.stringify({ ...row, sample_id: '../x' }));
  expect(() => findEvaluationCases(dir, null)).toThrow("sample_id '../x' is no name of a file");
  writeFileSync(join(dir, 'official_eval_manifest.jsonl'), JSON.stringify({ ...row, sample_id: 'a\0b' }));
  expect(() => findEvaluationCases(dir, null)).toThrow('is no name of a file');
  writeFileSync(join(dir, 'official_eval_manifest.jsonl'), '{"sample_id":"x"}');
  expect(() => findEvaluationCases(dir, null)).toThrow('official_eval_manifest.jsonl:1: a row needs');
});

test('of a dataset that is to count, nothing but its annotations counts', () => {
  const dir = scratchFolder();
  const made = writeCase(dir, '1q1a__videos__0001--aa', 'nested', turns, []);
  const row = { sample_id: made.sampleId, scene_type: 'nested', model_json: made.transcriptPath };
  const gt_json = made.annotationPath;
  writeFileSync(join(dir, 'official_eval_manifest.jsonl'), JSON.stringify({ ...row, gt_json }));
  mkdirSync(join(dir, 'other'));
  expect(findEvaluationCases(dir, join(dir, 'other')).cases[0]?.annotationPath).toBe(
    join(dir, 'other', '1q1a', 'videos__0001--aa', 'annotation.json'),
  );
  for (const gone of [join(dir, 'nope'), gt_json, join(gt_json, 'below')])
    expect(() => findEvaluationCases(dir, gone)).toThrow(`--dataset-path ${gone}: there is no such folder`);
});

test('two cases of one name are refused: the second would overwrite the first, and both count', () => {
  const dir = scratchFolder();
  const row = {
    sample_id: 'a',
    gt_json: 'a.json',
    model_json: 'a/wav_transcript.json',
    scene_type: 'nested',
  };
  const manifest = join(dir, 'official_eval_manifest.jsonl');
  const put = (...rows: unknown[]) =>
    writeFileSync(manifest, rows.map((each) => JSON.stringify(each)).join('\n'));
  put(row, { ...row, sample_id: 'b' }, row);
  expect(() => findEvaluationCases(dir, null)).toThrow(
    `${manifest}:3: sample_id 'a' is that of ${manifest}:1 already`,
  );
  put(row, { ...row, gt_json: 'b.json', model_json: 'b/wav_transcript.json' });
  expect(() => findEvaluationCases(dir, null)).toThrow(`${manifest}:2: sample_id 'a'`);
  // Two folders whose names come to the same when they are put together.
  const found = scratchFolder();
  const marker = {
    success: true,
    eligible_for_official_eval: true,
    annotation: 'a.json',
    scene_type: '1QnA',
  };
  for (const place of ['1qna/x__y', '1qna__x/y']) {
    mkdirSync(join(found, place), { recursive: true });
    writeFileSync(join(found, place, '.done'), JSON.stringify(marker));
  }
  expect(() => findEvaluationCases(found, null)).toThrow("sample_id '1qna__x__y' is that of");
});

test('what the system refuses to read is named', () => {
  const dir = scratchFolder();
  mkdirSync(join(dir, 'official_eval_manifest.jsonl'));
  expect(() => findEvaluationCases(dir, null)).toThrow(
    'official_eval_manifest.jsonl: it cannot be read: EISDIR',
  );
  symlinkSync('loop', join(dir, 'loop'));
  expect(() => findEvaluationCases(join(dir, 'loop'), null)).toThrow('its links lead to each other');
});

test('transcripts of the official scripts are found by the names of the videos', () => {
  const dir = scratchFolder();
  const dataset = join(dir, 'dataset', 'data');
  const put = (path: string, text: string) => {
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text);
  };
  const entry = { video: 'videos/0001.mp4', annotation: 'annotations/0001.json', scene_type: 'Nested' };
  put(join(dataset, '1q1a', 'video_json_map.json'), JSON.stringify({ total: 1, entries: [entry] }));
  for (const file of ['1q1a/videos/0001.mp4', '1qna/videos_bench/egoper/tea.mp4'])
    put(join(dataset, file), '');
  for (const file of ['1q1a/annotations/0001.json', '1qna/annotations/egoper/tea.json'])
    put(join(dataset, file), '[]');
  const out = join(dir, 'out');
  put(join(out, '1qna', 'egoper__tea', 'wav_transcript.json'), '{}');
  put(join(out, '1q1a', 'videos__0001--9f707b50', 'wav_transcript.json'), '{}');
  expect(findEvaluationCases(out, join(dir, 'dataset')).cases).toEqual([
    {
      sampleId: '1q1a__videos__0001--9f707b50',
      subset: '1q1a',
      sceneName: 'nested',
      annotationPath: join(dataset, '1q1a/annotations/0001.json'),
      transcriptPath: join(out, '1q1a/videos__0001--9f707b50/wav_transcript.json'),
    },
    {
      sampleId: '1qna__egoper__tea',
      subset: '1qna',
      sceneName: '1qna',
      annotationPath: join(dataset, '1qna/annotations/egoper/tea.json'),
      transcriptPath: join(out, '1qna/egoper__tea/wav_transcript.json'),
    },
  ]);
  expect(() => findEvaluationCases(out, null)).toThrow('need --dataset-path');
  expect(() => findEvaluationCases(out, out)).toThrow('1q1a');
});

test('cases are found by their markers where there is no manifest', () => {
  const dir = scratchFolder();
  const made = writeCase(dir, '1qna__x--bb', '1QnA', {}, []);
  const bad = writeCase(dir, '1qna__y--cc', '1QnA', {}, []);
  const marker = {
    success: true,
    eligible_for_official_eval: true,
    annotation: made.annotationPath,
    scene_type: '1QnA',
  };
  writeFileSync(join(made.transcriptPath, '..', '.done'), JSON.stringify(marker));
  writeFileSync(join(bad.transcriptPath, '..', '.failed.json'), '{}');
  expect(findEvaluationCases(dir, null)).toEqual({ cases: [made], skipped: 1 });
  expect(() => findEvaluationCases(join(dir, '1qna'), null)).toThrow(
    'neither official_eval_manifest.jsonl nor',
  );
  expect(() => findEvaluationCases(join(dir, 'gone'), null)).toThrow('no folder of OmniInteract artifacts');
});
