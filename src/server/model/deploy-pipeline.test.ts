import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { InputFileError, UsageError } from '../../foundation/errors.ts';
import type { PipelineDefinition } from '../pipeline/pipeline-definition.ts';
import { bundledDeployNames, readDeployFile } from './deploy-file.ts';
import { type Deployment, type DeployRequest, deployPipeline } from './deploy-pipeline.ts';
import { pipelineByName, pipelines, UnknownModelError } from './pipeline-registry.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'deploy-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Writes a file beside the others and gives its path. */
function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function deploy(over: Partial<DeployRequest> = {}): Deployment {
  return deployPipeline({
    model: 'Qwen/Qwen3-Omni-30B-A3B-Instruct',
    deployConfig: null,
    platform: null,
    globalFlags: {},
    asyncChunk: null,
    stageOverrides: null,
    ...over,
  });
}

function maxNumSeqs({ stages }: PipelineDefinition): number[] {
  return stages.map((stage) => stage.maxNumSeqs);
}

describe('precedence of max_num_seqs', () => {
  const base = 'stages:\n  - { stage_id: 0, max_num_seqs: 1 }\n  - { stage_id: 1, max_num_seqs: 1 }\n';
  const overlay =
    'base_config: base.yaml\nstages:\n  - { stage_id: 0, max_num_seqs: 2 }\n' +
    'platforms:\n  npu:\n    stages:\n      - { stage_id: 0, max_num_seqs: 3 }\n';
  const platform = 'npu';
  const globalFlags = { 'max-num-seqs': 4 };
  const stageOverrides = '{"0":{"max_num_seqs":5}}';

  test.each<[string, Partial<DeployRequest>, number[]]>([
    ['the topology’s own, where nobody says', { deployConfig: 'empty.yaml' }, [64, 64, 64]],
    ['a file', { deployConfig: 'base.yaml' }, [1, 1, 64]],
    ['an overlay over its base', { deployConfig: 'overlay.yaml' }, [2, 1, 64]],
    ['the platform over the overlay', { deployConfig: 'overlay.yaml', platform }, [3, 1, 64]],
    ['a flag over the platform', { deployConfig: 'overlay.yaml', platform, globalFlags }, [4, 4, 4]],
    [
      'stage overrides over all',
      { deployConfig: 'overlay.yaml', platform, globalFlags, stageOverrides },
      [5, 4, 4],
    ],
  ])('%s', (_what, request, expected) => {
    file('empty.yaml', '');
    file('base.yaml', base);
    file('overlay.yaml', overlay);
    const deployConfig = join(folder, request.deployConfig ?? '');
    expect(maxNumSeqs(deploy({ ...request, deployConfig }).pipeline)).toEqual(expected);
  });
});

describe('async_chunk', () => {
  test.each<[boolean | null, string, boolean]>([
    [null, '', true],
    [null, 'async_chunk: false', false],
    [true, 'async_chunk: false', true],
    [false, 'async_chunk: true', false],
  ])('flag %s over "%s"', (asyncChunk, text, expected) => {
    expect(deploy({ asyncChunk, deployConfig: file('chunk.yaml', text) }).pipeline.asyncChunk).toBe(expected);
  });
});

describe('a deployment file', () => {
  test('sets laws, defaults, engines, replicas, limits and the window', () => {
    const path = file(
      'all.yaml',
      `
active_stream_window: 3
limit_mm_per_prompt: { audio: 2 }
stages:
  - stage_id: 0
    num_replicas: 2
    devices: "0,1"
    max_model_len: 4096
    max_num_batched_tokens: 2048
    limit_mm_per_prompt: { image: 96 }
    default_sampling_params: { max_tokens: 123, temperature: 0.1 }
    sim: { ttft: { baseMs: 5 }, batchSlope: 0.5, length: 7 }
    some_vendor_key: 1
    engine_extras: { other: 2 }
  - stage_id: 2
    chunk: { initial: 3 }
`,
    );
    const { pipeline, notices } = deploy({ deployConfig: path });
    expect(pipeline).toMatchObject({
      activeStreamWindow: 3,
      maxModelLen: 4096,
      limitMmPerPrompt: { image: 96, audio: 2, video: null },
    });
    expect(pipeline.stages[0]).toMatchObject({
      numReplicas: 2,
      maxNumBatchedTokens: 2048,
      defaultMaxTokens: 123,
      engineExtras: { some_vendor_key: 1, other: 2 },
      laws: {
        ttft: { baseMs: 5, perInputTokenMs: 0.322 },
        batchSlope: { step: 0.5, ttft: 0.5, over: 'stage' },
        length: [7],
      },
    });
    expect(pipeline.stages[2]?.laws).toMatchObject({ chunk: { frames: 25, initial: 3 } });
    expect(notices).toEqual([`${path}: no effect on simulated engines: some_vendor_key.`]);
  });

  test.each([
    [
      'asynch_chunk: true',
      ': no effect at the top level: asynch_chunk. Did you mean "async_chunk" by "asynch_chunk"?',
    ],
    ['dtype: bfloat16\nasync_chunk: true\ndata_parallel_size: 1', ': no effect at the top level: dtype.'],
    ['max_num_seqs: 4', ': no effect at the top level: max_num_seqs.'],
  ])('says what has no effect at its top level: %j', (text, notice) => {
    const path = file('top.yaml', text);
    expect(deploy({ deployConfig: path }).notices).toEqual([`${path}${notice}`]);
    const over = file('over.yaml', 'base_config: top.yaml\n');
    expect(deploy({ deployConfig: over }).notices).toEqual([`${over}${notice}`]);
  });

  test('chunk sizes stand in the connector, and a stage’s own law wins', () => {
    const connector =
      'connectors:\n  c: { name: SharedMemoryConnector, extra: { codec_chunk_frames: 50, initial_codec_chunk_frames: 9 } }\n';
    const chunk = (text: string) =>
      deploy({ deployConfig: file('connector.yaml', text) }).pipeline.stages[2]?.laws;
    expect(chunk(connector)).toMatchObject({ chunk: { frames: 50, initial: 9 } });
    expect(chunk(`${connector}stages: [{ stage_id: 2, sim: { chunk: { frames: 10 } } }]`)).toMatchObject({
      chunk: { frames: 10, initial: 9 },
    });
  });

  test('serves a model that nobody knows with the pipeline that it names', () => {
    const path = file('own.yaml', 'pipeline: text_llm\n');
    expect(deploy({ model: 'me/my-model', deployConfig: path }).pipeline.name).toBe('text_llm');
    expect(() => deploy({ model: 'me/my-model' })).toThrow(UnknownModelError);
    expect(() => deploy({ model: 'me/my-model' })).toThrow(
      /--deploy-config.*pipeline: text_llm.*qwen3_omni/s,
    );
  });

  test('of the old form is read too', () => {
    const path = file(
      'legacy.yaml',
      `
stage_args:
  - stage_id: 0
    runtime: { process: true, devices: "0", max_batch_size: 3 }
    engine_args: { model_stage: thinker, engine_output_type: latent, gpu_memory_utilization: 0.8 }
    default_sampling_params: { max_tokens: 55 }
  - stage_id: 1
    runtime: { devices: "1,2" }
    engine_args: { model_stage: talker, tensor_parallel_size: 2 }
runtime: { enabled: true, defaults: { window_size: -1, max_inflight: 1 } }
`,
    );
    const [thinker] = deploy({ deployConfig: path }).pipeline.stages;
    expect(thinker).toMatchObject({ maxNumSeqs: 3, defaultMaxTokens: 55 });
  });

  test('sizes of images and videos', () => {
    const path = file(
      'video.yaml',
      'stages: [{ stage_id: 0, default_sampling_params: { width: 320, height: 240, num_frames: 9, fps: 12.5, num_inference_steps: 4 } }]',
    );
    const [stage] = deploy({ model: 'Helios-Distilled', deployConfig: path }).pipeline.stages;
    expect(stage).toMatchObject({
      defaults: { widthPx: 320, heightPx: 240, numFrames: 9, fps: 12.5, numInferenceSteps: 4 },
    });
  });

  test.each<[string, string, RegExp]>([
    ['not YAML', 'a: [', /bad\.yaml cannot be read as YAML/],
    ['a list', '- 1', /must hold keys and values/],
    ['a wrong value', 'async_chunk: perhaps', /bad\.yaml: async_chunk: /],
    ['a stage that there is not', 'stages: [{ stage_id: 7 }]', /no stage "7".*0 \(thinker\), 1 \(talker\)/],
    ['a pipeline that there is not', 'pipeline: qwen4', /no pipeline "qwen4"\. Pipelines: qwen3_omni,/],
    [
      'a misspelt law',
      'stages: [{ stage_id: 0, sim: { steps: {} } }]',
      /unknown key "steps"\. Did you mean "step"/,
    ],
    ['a bad count', 'stages: [{ stage_id: 1, max_num_seqs: 0 }]', /stage 1 \(talker\)\.max_num_seqs: /],
    [
      'too few devices',
      'stages: [{ stage_id: 1, devices: "0", tensor_parallel_size: 2 }]',
      /stage 1 \(talker\): devices "0" are 1, but .* need 2/,
    ],
    [
      'devices for some of the replicas',
      'stages: [{ stage_id: 1, devices: "0,1", num_replicas: 3 }]',
      /need 1 \(shared\) or 3/,
    ],
    [
      'an engine that there is not',
      'base_config: nowhere.yaml',
      /nowhere\.yaml does not exist.*qwen3_omni\.yaml/,
    ],
    [
      'a stage that is there twice',
      'stages: [{ stage_id: 1, max_num_seqs: 2 }, { stage_id: 0 }, { stage_id: 1 }]',
      /bad\.yaml: stages has stage_id 1 twice/,
    ],
    [
      'a stage that a platform has twice',
      'platforms: { npu: { stages: [{ stage_id: 0 }, { stage_id: 0 }] } }',
      /platforms\.npu\.stages has stage_id 0 twice/,
    ],
    ['a circle', 'base_config: bad.yaml', /build on each other in a circle/],
  ])('with %s is refused', (_what, text, message) => {
    const path = file('bad.yaml', text);
    expect(() => deploy({ deployConfig: path })).toThrow(message);
  });

  test('missing, is refused with the bundled ones', () => {
    expect(() => readDeployFile('nowhere.yaml')).toThrow(InputFileError);
    expect(() => readDeployFile('nowhere.yaml')).toThrow(/bagel\.yaml, /);
  });

  test('a parallel size as a flag is of an engine with devices and has no effect here', () => {
    expect(() => deploy({ globalFlags: { 'tensor-parallel-size': 2 } })).not.toThrow();
  });

  test('platforms are known by name', () => {
    expect(() => deploy({ platform: 'npu' })).not.toThrow();
    expect(() => deploy({ platform: 'tpu' })).toThrow(/--device tpu: .*cuda, npu, rocm/);
    expect(() => deploy({ platform: 'cuda' })).not.toThrow();
  });

  test.each([
    ['max-num-seqs', 0],
    ['limit-mm-per-prompt', '[1]'],
    ['limit-mm-per-prompt', '{'],
    ['limit-mm-per-prompt', '{"imag":1}'],
    ['limit-mm-per-prompt', '{"image":-1}'],
    ['limit-mm-per-prompt', '{"image":{"count":1.5}}'],
  ])('a bad --%s %s is refused', (flag, value) => {
    expect(() => deploy({ globalFlags: { [flag]: value } })).toThrow(UsageError);
  });
});

describe('bundled deployments', () => {
  test.each(pipelines.flatMap(({ modelIds }) => modelIds))('%s is served as deployed', (model) => {
    const { pipeline, notices } = deploy({ model });
    expect(notices).toEqual([]);
    expect(pipeline.modelIds).toContain(model);
    expect(pipeline.stages.map(({ stageId }) => stageId)).toEqual(pipeline.stages.map((_, index) => index));
  });

  test.each(bundledDeployNames())(
    '%s can be named, and names its pipeline where that is not the model’s',
    (name) => {
      const { values } = readDeployFile(name);
      const owner = values.pipeline ?? pipelines.find(({ defaultDeploy }) => defaultDeploy === name)?.name;
      const model = pipelineByName(owner ?? '')?.modelIds[0] ?? 'me/my-model';
      expect(deploy({ model, deployConfig: name }).pipeline.name).toBe(owner);
    },
  );

  test('full duplex is what a file says, for models that can', () => {
    const duplex = (over: Partial<DeployRequest>) => {
      const { pipeline, notices } = deploy({ model: 'openbmb/MiniCPM-o-4_5', ...over });
      return { duplex: pipeline.duplex, capabilities: pipeline.capabilities, notices };
    };
    expect(duplex({})).toMatchObject({
      duplex: {
        chunkPeriodMs: 1000,
        modelDecides: true,
        maxSessions: 4,
        idleTtlS: 300,
        disconnectGraceS: 30,
      },
      capabilities: ['chat', 'realtime'],
    });
    expect(duplex({ deployConfig: 'minicpmo_4_5_turn.yaml' })).toMatchObject({
      duplex: null,
      capabilities: ['chat', 'completions', 'realtime'],
    });
    const own = file(
      'own.yaml',
      'session_mode: duplex\nduplex_session: { max_sessions: 9, idle_ttl_s: 60 }\n',
    );
    expect(duplex({ deployConfig: own })).toMatchObject({
      duplex: { maxSessions: 9, idleTtlS: 60, disconnectGraceS: 30 },
    });
    expect(duplex({ model: 'Qwen/Qwen3-TTS-12Hz-1.7B-Base', deployConfig: own })).toMatchObject({
      duplex: null,
      notices: [expect.stringMatching(/session_mode duplex has no effect: qwen3_tts answers in turns/)],
    });
    const bad = file('bad.yaml', 'session_mode: duplex\nduplex_session: { max_sessions: 0 }\n');
    expect(() => duplex({ deployConfig: bad })).toThrow(/duplex_session\.max_sessions/);
  });

  test('MiniCPM-o takes 64 pictures unless told otherwise', () => {
    const limit = (over: Partial<DeployRequest>): number | null =>
      deploy({ model: 'openbmb/MiniCPM-o-4_5', ...over }).pipeline.limitMmPerPrompt.image;
    expect(limit({})).toBe(64);
    expect(limit({ globalFlags: { 'limit-mm-per-prompt': '{"image":96}' } })).toBe(96);
    expect(limit({ globalFlags: { 'limit-mm-per-prompt': '{"image":{"count":7,"width":512}}' } })).toBe(7);
    expect(() => limit({ globalFlags: { 'limit-mm-per-prompt': '{"imag":1}' } })).toThrow(
      /limit_mm_per_prompt: there are no media of the kind "imag"; known: image, audio, video/,
    );
    expect(limit({ stageOverrides: { 0: { limit_mm_per_prompt: { image: 32 } } } })).toBe(32);
  });
});
