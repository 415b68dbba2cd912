import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UsageError } from '../../foundation/errors.ts';
import { attemptOf, requestOf } from '../../metrics/metric-records.suite.ts';
import type { DuplexArtifacts, DuplexSessionFacts } from '../../records/duplex-session.ts';
import { exampleSession } from '../../records/examples.suite.ts';
import type { RequestRecord } from '../../records/request-record.ts';
import type { OmniInteractCase } from '../../workloads/omniinteract/omniinteract-case.ts';
import { defaultOmniInteractOptions } from '../../workloads/omniinteract/omniinteract-options.ts';
import type { Sample } from '../../workloads/sample.ts';
import type { CommandIo } from '../serve/options.ts';
import { OmniInteractRun } from './omniinteract-run.ts';
import type { MeasuredSettings } from './unfinished-run.ts';

let root: string;
let said: string[];
beforeEach(() => {
  root = join(mkdtempSync(join(tmpdir(), 'omnimeter-artifacts-')), 'out');
  said = [];
});
afterEach(() => rmSync(join(root, '..'), { recursive: true, force: true }));

const io: CommandIo = {
  stdout: (line) => said.push(line),
  stderr: (line) => said.push(line),
  redraw: () => {},
  settle: () => {},
  isTty: false,
  columns: 80,
  onInterrupt: () => {},
};

const settings: MeasuredSettings = {
  backend: 'openai-realtime-duplex',
  baseUrl: 'http://127.0.0.1:8000',
  endpointPath: '/v1/realtime',
  model: 'm',
  servedModelName: null,
  headers: [],
  extraBody: {},
  printStage: false,
  percentileMetrics: ['ttft'],
  requestRate: Number.POSITIVE_INFINITY,
  burstiness: 1,
  rampUp: null,
  maxConcurrency: 1,
  dataset: { path: '/data', omniinteract: defaultOmniInteractOptions },
};

const cases: readonly OmniInteractCase[] = [
  {
    subset: '1q1a',
    videoRel: 'videos/0001.mp4',
    videoPath: '/data/1q1a/videos/0001.mp4',
    annotationPath: '/data/1q1a/annotations/0001.json',
    sceneType: 'multi_turn',
  },
  {
    subset: '1qna',
    videoRel: 'videos_bench/egoper/salad.mp4',
    videoPath: '/data/1qna/videos_bench/egoper/salad.mp4',
    annotationPath: '/data/1qna/annotations/egoper/salad.json',
    sceneType: '1qna',
  },
];
// `printf %s 1q1a/videos/0001.mp4 | sha256sum` begins with 9f707b50.
const firstFolder = (): string => join(root, '1q1a/videos__0001--9f707b50');
const secondFolder = (): string => join(root, '1qna', readdirSync(join(root, '1qna'))[0] ?? '');

const samples: readonly Sample[] = cases.map((one) => ({
  prompt: '',
  promptTokens: 0,
  expectedOutputTokens: null,
  media: [],
  requestId: null,
  live: {
    pcm: new Uint8Array(),
    sampleRateHz: 16_000,
    frames: [],
    durationS: 1,
    refAudio: null,
    caseFacts: { ...one },
  },
}));

const artifacts = (): DuplexArtifacts => ({
  // Two samples of silence at 16 kHz, as Python's `struct` packs them by the layout of RIFF.
  wav: Buffer.from(
    '524946462800000057415645666d74201000000001000100803e0000007d000002001000646174610400000000000000',
    'hex',
  ),
  eventsJson: new TextEncoder().encode('[]\n'),
});

function ended(
  index: number,
  session: Partial<DuplexSessionFacts> = {},
  changes: Partial<RequestRecord> = {},
) {
  const caseFacts = { ...cases[index] };
  return requestOf(
    {},
    {
      index,
      attempts: [attemptOf(1000, 2000)],
      duplex: exampleSession({ caseFacts, ...session }),
      ...changes,
    },
  );
}

const failure: Partial<RequestRecord> = {
  outcome: { ok: false, kind: 'stream_error', status: null, message: 'session expired', body: null },
};

async function open(change: Partial<MeasuredSettings> = {}): Promise<OmniInteractRun> {
  const run = await OmniInteractRun.open(
    { outputDir: root, evaluation: null },
    { ...settings, ...change },
    { io, stopped: () => false },
  );
  if (run === null) throw new Error('the folder is taken');
  return run;
}

/** A run up to its last step. */
async function started(change: Partial<MeasuredSettings> = {}): Promise<OmniInteractRun> {
  const run = await open(change);
  await run.begin(samples);
  run.start(1000);
  return run;
}

const json = (...path: string[]): unknown => JSON.parse(readFileSync(join(...path), 'utf8'));
const rows = (name: string): unknown[] =>
  readFileSync(join(root, name), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

describe('artifacts', () => {
  it('of a case that succeeded', async () => {
    const run = await started();
    run.take(ended(0, { transcript: '你好' }), artifacts());
    await run.finish(true);
    expect(readdirSync(firstFolder()).sort()).toEqual([
      '.done',
      '.record.json',
      'events.json',
      'output.wav',
      'result.json',
      'wav_transcript.json',
    ]);
    const text = readFileSync(join(firstFolder(), 'result.json'), 'utf8');
    expect(text).toContain('"transcript": "你好"');
    expect(text).toMatch(/^\{\n {2}"subset": "1q1a",\n.*\n\}\n$/s);
    const result = json(firstFolder(), 'result.json');
    expect(Object.keys(result as object)).toEqual(
      'subset video output_dir success error session_id latency_s input_audio_chunks input_video_frames pacing_mean_lag_s pacing_max_lag_s responses audio_bytes audio_clipped_bytes transcript eligible_for_official_eval official_eval_ineligible_reasons artifact_warnings output_tokens duplex_request_metrics duplex_session_metrics'.split(
        ' ',
      ),
    );
    expect(result).toMatchObject({
      video: 'videos/0001.mp4',
      output_dir: firstFolder(),
      success: true,
      error: null,
      latency_s: 8.5,
      pacing_mean_lag_s: 0.00025,
      pacing_max_lag_s: 0.0015,
      eligible_for_official_eval: true,
    });
    expect(json(firstFolder(), '.done')).toEqual({
      ...(result as object),
      annotation: '/data/1q1a/annotations/0001.json',
      scene_type: 'multi_turn',
    });
    expect(json(firstFolder(), 'wav_transcript.json')).toEqual({
      text: '你好',
      chunks: [{ response_id: 'r1', text: 'hello', timestamp: [1.25, 2.25] }],
      timestamp_semantics: 'serialized playback queue time relative to input streaming start',
    });
    run.close();
  });

  it('of a case that failed', async () => {
    const run = await started();
    run.take(ended(0, {}, failure), null);
    const { results } = await run.finish(false);
    expect(readdirSync(firstFolder())).toEqual(['.failed.json']);
    expect(json(firstFolder(), '.failed.json')).toMatchObject({
      success: false,
      error: 'session expired',
      eligible_for_official_eval: false,
      official_eval_ineligible_reasons: ['case_failed'],
      annotation: '/data/1q1a/annotations/0001.json',
    });
    expect(results).toEqual({
      omniinteract: {
        ...{ total: 1, success: 0, failed: 1, eligible_for_official_eval: 0, successful_but_ineligible: 0 },
        ...{ audio_clipped_bytes: 0, artifacts_complete: true },
      },
    });
    run.close();
  });

  it('of a case that failed under way, until it runs again', async () => {
    const run = await started();
    run.take(ended(0, { transcript: 'hello' }, failure), artifacts());
    run.take(ended(1, { transcriptChunks: [] }, failure), { ...artifacts(), wav: null });
    await run.finish(true);
    run.close();
    expect(readdirSync(firstFolder()).sort()).toEqual([
      '.failed.json',
      'failed_events.json',
      'failed_output.wav',
      'failed_transcript.json',
    ]);
    expect(json(firstFolder(), 'failed_transcript.json')).toMatchObject({ text: 'hello' });
    expect(readFileSync(join(firstFolder(), 'failed_output.wav'))).toEqual(artifacts().wav);
    expect(readdirSync(secondFolder()).sort()).toEqual(['.failed.json', 'failed_events.json']);
    // The same command again: nothing of it is taken for finished, and it makes room.
    const again = await open();
    expect(again.isFinished('1q1a/videos/0001.mp4')).toBe(false);
    await again.begin(samples);
    expect(readdirSync(firstFolder())).toEqual([]);
    again.start(1000);
    again.take(ended(0), artifacts());
    await again.finish(true);
    again.close();
    expect(readdirSync(firstFolder())).toContain('.done');
    expect(readdirSync(firstFolder()).join()).not.toContain('failed');
  });

  it('of the run', async () => {
    const run = await started();
    // In order of drawing, not of ending.
    run.take(ended(1), artifacts());
    run.take(ended(0, { ineligibleReasons: ['audio_clipped'], audioClippedBytes: 7 }), artifacts());
    const { results } = await run.finish(false);
    run.close();
    expect(readdirSync(root).sort()).toEqual([
      '1q1a',
      '1qna',
      'batch_summary.json',
      'official_eval_manifest.jsonl',
      'sampled_cases.jsonl',
    ]);
    expect(rows('sampled_cases.jsonl')).toEqual([
      { video_path: '/data/1q1a/videos/0001.mp4', output_name: '1q1a/videos__0001', subset: '1q1a' },
      {
        video_path: '/data/1qna/videos_bench/egoper/salad.mp4',
        output_name: '1qna/egoper__salad',
        subset: '1qna',
      },
    ]);
    expect(rows('official_eval_manifest.jsonl')).toEqual([
      {
        sample_id: `1qna__${secondFolder().split('/').at(-1)}`,
        video: '/data/1qna/videos_bench/egoper/salad.mp4',
        gt_json: '/data/1qna/annotations/egoper/salad.json',
        model_json: join(secondFolder(), 'wav_transcript.json'),
        scene_type: '1QnA',
      },
    ]);
    expect(json(root, 'batch_summary.json')).toMatchObject({
      ...{ total: 2, success: 2, failed: 0, eligible_for_official_eval: 1, successful_but_ineligible: 1 },
      audio_clipped_bytes: 7,
      results: [{ subset: '1q1a' }, { subset: '1qna' }],
    });
    expect(results.omniinteract).toMatchObject({ successful_but_ineligible: 1, artifacts_complete: true });
    expect(said.join('\n')).toContain(
      '1 successful OmniInteract cases are excluded from the official manifest: audio_clipped=1',
    );
    expect(existsSync(join(secondFolder(), '.record.json'))).toBe(false);
  });

  it('that can’t be written cost no measurement', async () => {
    const run = await started();
    mkdirSync(join(root, '1q1a'));
    writeFileSync(firstFolder(), 'a file in the way');
    run.take(ended(0), artifacts());
    run.take(ended(1), null);
    const { results } = await run.finish(false);
    run.close();
    expect(results.omniinteract).toMatchObject({
      success: 2,
      eligible_for_official_eval: 0,
      artifacts_complete: false,
      artifact_errors: [
        expect.stringMatching(/^1q1a\/videos\/0001\.mp4: Artifact publication failed: /),
        expect.stringContaining('Artifact publication failed: the session left no sound and no events'),
      ],
    });
    expect(json(secondFolder(), '.failed.json')).toMatchObject({
      official_eval_ineligible_reasons: ['artifact_write_failed'],
    });
    expect(rows('official_eval_manifest.jsonl')).toEqual([]);
  });

  it('of the batch that can’t be written are told', async () => {
    const run = await started();
    mkdirSync(join(root, 'batch_summary.json'));
    run.take(ended(0), artifacts());
    const { results } = await run.finish(false);
    run.close();
    expect(results.omniinteract).toMatchObject({
      artifacts_complete: false,
      artifact_errors: [expect.stringContaining('Batch artifact publication failed: ')],
    });
  });
});

describe('an evaluation that the user does not wait for', () => {
  const judge = { baseUrl: 'http://127.0.0.1:9', model: 'j', apiKey: 'k', timeoutS: 1, maxTokens: 1 };

  it('leaves everything else of the run whole', async () => {
    const evaluation = {
      judge,
      workers: 1,
      skipExisting: false,
      outputDir: join(root, 'e'),
      promptsFile: null,
    };
    const run = await OmniInteractRun.open({ outputDir: root, evaluation }, settings, {
      io,
      stopped: () => false,
    });
    await run?.begin(samples);
    run?.start(1000);
    run?.take(ended(0), artifacts());
    run?.take(ended(1), artifacts());
    const finished = await run?.finish(false, async () => null);
    run?.close();
    expect(finished).toEqual({
      results: {
        omniinteract: expect.objectContaining({
          total: 2,
          success: 2,
          artifacts_complete: true,
          accuracy: {
            status: 'failed',
            error: expect.stringContaining('interrupted before all cases were judged'),
          },
        }),
      },
      lines: [],
    });
    expect(rows('official_eval_manifest.jsonl')).toHaveLength(2);
    expect(said.join('\n')).toContain(
      `accuracy omniinteract evaluate ${root} --judge-model j --judge-base-url http://127.0.0.1:9 --omniinteract-eval-skip-existing`,
    );
  });
});

it('a folder with a file in place of a subset is refused, and is free again', async () => {
  mkdirSync(root);
  writeFileSync(join(root, '1q1a'), '');
  await expect(open()).rejects.toThrow(UsageError);
  await expect(open()).rejects.toThrow(
    new RegExp(`^cannot write artifacts into ${root}: .*1q1a.*\\. Give --omniinteract-output-dir a folder`),
  );
  rmSync(join(root, '1q1a'));
  const run = await open();
  run.close();
});

describe('a run that was cut off', () => {
  const second = '1qna/videos_bench/egoper/salad.mp4';

  /** The second case is done, the first was under way; the process is gone. */
  async function killed(change: Partial<MeasuredSettings> = {}): Promise<void> {
    const run = await started(change);
    run.take(ended(1), artifacts());
    await run.finish(true);
    run.close();
    mkdirSync(firstFolder(), { recursive: true });
    writeFileSync(join(firstFolder(), '.events.json.0123abcd.tmp'), '[');
    writeFileSync(join(firstFolder(), 'output.wav'), 'half');
  }

  it('keeps its finished cases, and they count', async () => {
    await killed();
    const run = await open();
    expect(run.isFinished(second)).toBe(true);
    expect(run.isFinished('1q1a/videos/0001.mp4')).toBe(false);
    await run.begin(samples);
    expect(readdirSync(firstFolder())).toEqual([]);
    const { records, lengthMs } = run.start(50_000);
    expect(lengthMs).toBe(1000);
    expect(records).toMatchObject([{ index: 1, kept: true, attempts: [{ sendMs: 49_000, endMs: 50_000 }] }]);
    run.take(ended(0), artifacts());
    const { results } = await run.finish(false);
    run.close();
    expect(results.omniinteract).toMatchObject({ total: 2, success: 2, artifacts_complete: true });
    expect(rows('official_eval_manifest.jsonl')).toHaveLength(2);
    expect(said.join('\n')).toContain('going on with a run that was cut off: 1 finished cases');
  });

  it('has no summary, and is not complete', async () => {
    const run = await started();
    run.take(ended(1), artifacts());
    const { results } = await run.finish(true);
    run.close();
    expect(results.omniinteract).toMatchObject({ total: 1, artifacts_complete: false });
    expect(existsSync(join(root, 'batch_summary.json'))).toBe(false);
    expect(rows('sampled_cases.jsonl')).toHaveLength(2);
  });

  it('may be cut off again', async () => {
    await killed();
    const again = await open();
    await again.begin(samples);
    again.start(50_000);
    await again.finish(true);
    again.close();
    const run = await open();
    expect(run.isFinished(second)).toBe(true);
    run.close();
  });

  it.each<[string, Partial<MeasuredSettings>]>([
    ['another server', { baseUrl: 'http://127.0.0.1:9' }],
    ['another concurrency', { maxConcurrency: 2 }],
    [
      'another voice',
      { dataset: { path: '/data', omniinteract: { ...defaultOmniInteractOptions, refAudio: '/v' } } },
    ],
  ])('is not gone on with by %s', async (_, change) => {
    await killed();
    const run = await open(change);
    expect(run.isFinished(second)).toBe(false);
    expect(said.join('\n')).toContain('are of another command');
    await run.begin(samples);
    expect(readdirSync(secondFolder())).toEqual([]);
    run.close();
  });

  it('is gone on with for other cases', async () => {
    await killed();
    const omniinteract = { ...defaultOmniInteractOptions, subsets: ['1qna'] };
    const run = await open({ dataset: { path: '/data', omniinteract } });
    expect(run.isFinished(second)).toBe(true);
    run.close();
  });

  it.each<[string, string, (whole: Buffer) => Buffer | string | null]>([
    ['transcript is gone', 'wav_transcript.json', () => null],
    ['transcript is cut off', 'wav_transcript.json', (whole) => whole.subarray(0, -20)],
    ['events are empty', 'events.json', () => ''],
    ['result is cut off', 'result.json', (whole) => whole.subarray(0, 100)],
    [
      'result is another’s',
      'result.json',
      (whole) => whole.toString().replace('"responses": 1', '"responses": 2'),
    ],
    ['sound is cut off', 'output.wav', (whole) => whole.subarray(0, -2)],
    ['sound is cut off in its header', 'output.wav', (whole) => whole.subarray(0, 20)],
    ['record is empty', '.record.json', () => ''],
    ['marker is empty', '.done', () => ''],
    ['marker is cut off', '.done', (whole) => whole.subarray(0, whole.length / 2)],
    ['marker is no object', '.done', () => '[]'],
    ['marker says less', '.done', () => '{"success": true}'],
    [
      'marker is of a failure',
      '.done',
      (whole) => whole.toString().replace('"success": true', '"success": false'),
    ],
  ])('runs a case again whose %s, and says so', async (_, name, spoil) => {
    await killed();
    const path = join(secondFolder(), name);
    const whole = readFileSync(path);
    const spoilt = spoil(whole);
    expect(whole.equals(Buffer.from(spoilt ?? ''))).toBe(false);
    if (spoilt === null) rmSync(path);
    else writeFileSync(path, spoilt);
    const run = await open();
    expect(run.isFinished(second)).toBe(false);
    expect(said.join('\n')).toContain(
      `${secondFolder()} is marked as finished and is not whole; its case runs again.`,
    );
    await run.begin(samples);
    expect(readdirSync(secondFolder())).toEqual([]);
    run.close();
  });

  it('has nothing to do with what an earlier run has left', async () => {
    await killed();
    const record = readFileSync(join(secondFolder(), '.record.json'), 'utf8');
    const second1 = await open();
    await second1.begin(samples);
    second1.start(1000);
    second1.take(ended(0), artifacts());
    await second1.finish(false);
    second1.close();
    // Another run of the command, for the first case alone, is killed; the record of the second has somehow stayed.
    writeFileSync(join(secondFolder(), '.record.json'), record);
    said = [];
    const other = await open();
    await other.begin(samples.slice(0, 1));
    other.start(1000);
    other.take(ended(0), artifacts());
    await other.finish(true);
    other.close();
    const run = await open();
    expect(run.isFinished('1q1a/videos/0001.mp4')).toBe(true);
    expect(run.isFinished(second)).toBe(false);
    expect(said).toEqual([expect.stringContaining('1 finished cases')]);
    run.close();
  });

  it('whose case has no record runs it again', async () => {
    await killed();
    rmSync(join(secondFolder(), '.record.json'));
    const run = await open();
    expect(run.isFinished(second)).toBe(false);
    run.close();
  });

  it('is begun anew once its summary is written', async () => {
    const first = await started();
    first.take(ended(1), artifacts());
    await first.finish(false);
    first.close();
    const run = await open();
    expect(run.isFinished(second)).toBe(false);
    await run.begin(samples);
    expect(readdirSync(secondFolder())).toEqual([]);
    expect(existsSync(join(root, 'batch_summary.json'))).toBe(false);
    run.close();
  });
});

describe('the folder', () => {
  it('is refused where it can’t be', async () => {
    mkdirSync(join(root, '..'), { recursive: true });
    writeFileSync(root, 'a file');
    await expect(open()).rejects.toThrow(/^cannot write artifacts into .*--omniinteract-output-dir/);
    rmSync(root);
    const run = await open();
    mkdirSync(join(root, 'batch_summary.json', 'x'), { recursive: true });
    await expect(run.begin(samples)).rejects.toThrow('cannot write artifacts into');
    run.close();
  });
});
