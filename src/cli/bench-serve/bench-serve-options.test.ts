import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { endpoints } from '../../endpoints/registry.ts';
import { UsageError } from '../../foundation/errors.ts';
import { datasets } from '../../workloads/datasets.ts';
import { defaultOmniInteractOptions } from '../../workloads/omniinteract/omniinteract-options.ts';
import { allBenchServeFlags } from '../flags/bench-serve/bench-serve-flags.ts';
import { parseFlags } from '../flags/parse-flags.ts';
import { benchServeOptions } from './bench-serve-options.ts';

async function produce(argv: readonly string[], env: Record<string, string> = {}) {
  const parsed = await parseFlags(argv, allBenchServeFlags, env);
  if (parsed.kind === 'help') throw new Error('help');
  const around = { argv, env, endpoints, datasets, runHex: '0123abcd' };
  return benchServeOptions(parsed.values, parsed.explicit, around);
}

/** The words that a shell makes of a command line that begins with `vllm bench serve`. */
function guide(name: string): string[] {
  const line = readFileSync(new URL(`../__fixtures__/${name}.sh`, import.meta.url), 'utf8');
  const script = `vllm() { shift 2; printf '%s\\0' "$@"; }\n${line}`;
  return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

describe("the guide's command lines, verbatim", () => {
  test('sharegpt', async () => {
    const { options, notes } = await produce(guide('guide-sharegpt'));
    expect(notes).toEqual([]);
    expect(options).toMatchObject({
      omni: true,
      backend: 'openai-chat-omni',
      baseUrl: 'http://127.0.0.1:43845',
      endpointPath: '/v1/chat/completions',
      model: '/home/models/Qwen/Qwen3-Omni-30B-A3B-Instruct',
      numPrompts: 2,
      ignoreEos: false,
      requestTimeoutS: 900,
      percentileMetrics: ['ttft', 'tpot', 'itl', 'e2el'],
      dataset: { name: 'sharegpt', path: 'ShareGPT_V3_unfiltered_cleaned_split.json' },
    });
  });

  test('random', async () => {
    const { options, notes } = await produce(guide('guide-random'));
    expect(notes).toEqual([]);
    expect(options).toMatchObject({
      ignoreEos: true,
      percentileMetrics: ['ttft', 'tpot', 'itl', 'e2el', 'audio_ttfp', 'audio_rtf'],
      dataset: { name: 'random', randomPrefixLen: 5, randomInputLen: 10, randomOutputLen: 100 },
    });
  });

  test('stages', async () => {
    const { options, notes } = await produce(guide('guide-stages'));
    expect(notes).toEqual([]);
    expect(options).toMatchObject({
      baseUrl: 'http://127.0.0.1:29999',
      model: `${homedir()}/Qwen3-Omni-30B-A3B-Instruct`,
      maxConcurrency: 1,
      numWarmups: 2,
      printStage: true,
      extraBody: { modalities: ['text', 'audio'] },
      percentileMetrics: ['ttft', 'tpot', 'itl', 'e2el', 'audio_ttfp', 'audio_rtf', 'ttfc', 'tpoc', 'icl'],
    });
  });

  test('random-mm', async () => {
    const { options, notes } = await produce(guide('guide-random-mm'));
    expect(notes).toEqual([]);
    expect(options).toMatchObject({
      backend: 'openai-chat-omni',
      ignoreEos: true,
      requestRate: 1,
      numPrompts: 1,
      dataset: {
        name: 'random-mm',
        randomInputLen: 10,
        randomOutputLen: 2,
        randomMm: {
          itemsPerRequest: 2,
          itemsRangeRatio: 0,
          limits: { image: 1, video: 1, audio: 1 },
          buckets: [
            { height: 32, width: 32, frames: 1, weight: 0.5 },
            { height: 0, width: 1, frames: 1, weight: 0.1 },
            { height: 32, width: 32, frames: 2, weight: 0.4 },
          ],
        },
      },
    });
    // Forced for random prompts, also where the command line does not ask for it.
    expect((await produce(['--dataset-name', 'random-mm'])).options.ignoreEos).toBe(true);
  });

  test.each([
    ['a map of YAML', 'random-mm-bucket-config:\n  (8, 6, 1): 0.25\n  "(0, 1, 1)": 0.75\n'],
    ['text', "random_mm_bucket_config: '{(8, 6, 1): 0.25, (0, 1, 1): 0.75}'\n"],
  ])('random-mm from a configuration file: %s', async (_, yaml) => {
    const dir = mkdtempSync(join(tmpdir(), 'omnimeter-config-'));
    try {
      writeFileSync(join(dir, 'c.yaml'), yaml);
      const { options } = await produce(['--config', join(dir, 'c.yaml')]);
      expect(options.dataset.randomMm.buckets).toEqual([
        { height: 8, width: 6, frames: 1, weight: 0.25 },
        { height: 0, width: 1, frames: 1, weight: 0.75 },
      ]);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  test('a dataset that is not built is told apart from a slip', async () => {
    await expect(produce(['--dataset-name', 'videomme'])).rejects.toThrow(
      '--dataset-name videomme is not available in this version of omnimeter.\nAvailable datasets: random, random-mm,',
    );
  });

  test('images, whose path names the adapter', async () => {
    const { options, notes } = await produce(guide('guide-images'));
    expect(notes).toEqual([]);
    expect(options).toMatchObject({
      backend: '/v1/images/generations',
      endpointPath: '/v1/images/generations',
      ignoreEos: true,
      extraBody: { num_inference_steps: 20, seed: 42, true_cfg_scale: 4 },
      percentileMetrics: ['e2el'],
    });
    expect(options.extraBody).not.toHaveProperty('bot_task');
  });
});

describe('image and video endpoints', () => {
  test.each(['/v1/images/generations', '/v1/images/edits', '/v1/videos'])(
    '%s names its adapter',
    async (path) => {
      for (const endpoint of [path, path.slice(1), ` ${path} `]) {
        expect((await produce(['--endpoint', endpoint])).options.backend).toBe(path);
        expect((await produce(['--endpoint', endpoint, '--backend', ''])).options.backend).toBe(path);
      }
    },
  );

  test('a backend that is named is never overruled', async () => {
    const { options } = await produce([
      '--endpoint',
      '/v1/images/edits',
      '--backend',
      'openai-image-edits-omni',
    ]);
    expect(options.backend).toBe('openai-image-edits-omni');
    await expect(produce(['--endpoint', '/v1/videos', '--backend', 'openai'])).rejects.toThrow(
      /^OpenAI Completions API URL must end with one of/,
    );
  });

  test.each(Object.values(endpoints).map(({ name, defaultPath }) => [name, defaultPath] as const))(
    '--backend %s has a path of its own',
    async (name, path) => {
      expect((await produce(['--backend', name])).options.endpointPath).toBe(path);
    },
  );

  test('edits think first, unless told otherwise', async () => {
    const task = async (...more: string[]) =>
      (await produce(['--endpoint', '/v1/images/edits', ...more])).options;
    expect((await task()).extraBody).toEqual({ bot_task: 'think' });
    expect((await task('--image-edits-bot-task', 'recaption')).extraBody).toEqual({ bot_task: 'recaption' });
    expect((await task('--extra-body.bot_task', 'own')).extraBody).toEqual({ bot_task: 'own' });
    expect((await task('--extra-body', '{"bot_task": null}')).extraBody).toEqual({ bot_task: null });
    expect((await task('--image-edits-bot-task', '')).extraBody).toEqual({});
  });

  test('flags of one API say so with another', async () => {
    const { notes } = await produce(['--image-edits-bot-task', 'x', '--video-download']);
    expect(notes).toEqual([
      '--image-edits-bot-task has no effect without an image edits endpoint.',
      '--video-download has no effect without --endpoint /v1/videos.',
    ]);
    expect((await produce(['--endpoint', '/v1/videos', '--video-download'])).options.videoDownload).toBe(
      true,
    );
  });
});

describe('what was asked for', () => {
  test('defaults', async () => {
    const { options, notes } = await produce([]);
    expect(notes).toEqual([]);
    expect(options).toEqual({
      argv: [],
      omni: false,
      omniinteract: null,
      backend: 'openai',
      baseUrl: 'http://127.0.0.1:8000',
      endpointPath: '/v1/completions',
      headers: [],
      apiKey: null,
      insecure: false,
      model: null,
      servedModelName: null,
      tokenizer: null,
      tokenizerMode: 'auto',
      trustRemoteCode: false,
      skipTokenizerInit: false,
      loraModules: [],
      loraAssignment: 'random',
      numPrompts: 1000,
      requestRate: Number.POSITIVE_INFINITY,
      burstiness: 1,
      maxConcurrency: null,
      rampUp: null,
      probeRequestRate: 0,
      numWarmups: 0,
      warmupPrompts: 'first',
      readyCheckTimeoutS: 0,
      profile: false,
      seed: 0,
      loadThreads: 1,
      arrivalClock: 'worker',
      transport: 'socket',
      newConnectionPerRequest: false,
      requestTimeoutS: 21_600,
      maxLineBytes: 67_108_864,
      stream: true,
      ignoreEos: true,
      logprobs: null,
      extraBody: {},
      videoDownload: false,
      requestIdPrefix: 'bench-0123abcd-',
      dataset: {
        name: 'random',
        path: null,
        disableShuffle: false,
        noOversample: false,
        skipChatTemplate: false,
        chatTemplateKwargs: {},
        sharegptOutputLen: null,
        customOutputLen: 256,
        skipInvalid: false,
        randomInputLen: 1024,
        randomOutputLen: 128,
        randomPrefixLen: 0,
        randomRangeRatio: { input: 0, output: 0 },
        randomBatchSize: 1,
        noReranker: false,
        randomMm: {
          itemsPerRequest: 1,
          itemsRangeRatio: 0,
          limits: { image: 255, video: 1 },
          buckets: [
            { height: 256, width: 256, frames: 1, weight: 0.5 },
            { height: 720, width: 1280, frames: 1, weight: 0.5 },
            { height: 720, width: 1280, frames: 16, weight: 0 },
          ],
          videoEncoder: 'auto',
          audioMime: 'audio/wav',
        },
        enableMultimodalChat: false,
        ensureClientSideData: false,
        selfTimed: null,
        sonnet: { inputLen: 550, outputLen: 150, prefixLen: 200 },
        prefixRepetition: { prefixLen: 256, suffixLen: 256, numPrefixes: 10, outputLen: 128 },
        timedTrace: {
          chunkHashSize: 16,
          secMultiplier: 1,
          labels: {
            timestamp: 'timestamp',
            inputLength: 'input_length',
            outputLength: 'output_length',
            hashIds: 'hash_ids',
          },
          given: [],
        },
        specBench: { outputLen: 256, category: null },
        speedBench: { subset: 'qualitative', outputLen: 4096, category: null },
        hf: {
          name: null,
          subset: null,
          split: null,
          outputLen: null,
          noStream: false,
          blazeditDistance: { min: 0, max: 1 },
          asrAudioLenS: { min: 0, max: null },
          bfclCategories: ['simple', 'live_simple', 'multiple'],
        },
        omniinteract: defaultOmniInteractOptions,
      },
      percentileMetrics: ['ttft', 'tpot', 'itl'],
      metricPercentiles: [99],
      goodput: {},
      printStage: false,
      continuityThresholdS: 0.1,
      saveResult: false,
      saveDetailed: false,
      appendResult: false,
      resultDir: null,
      resultFilename: null,
      html: null,
      plotTimeline: null,
      plotDatasetStats: false,
      thresholds: [],
      label: null,
      metadata: {},
      runDir: null,
      journal: true,
      disableProgress: false,
      live: true,
    });
  });

  test.each([
    [['--backend', 'openai-chat'], { endpointPath: '/v1/chat/completions' }],
    [['--endpoint', 'v1/completions'], { endpointPath: '/v1/completions' }],
    [['--base-url', 'https://h/x/'], { baseUrl: 'https://h/x' }],
    [['--host', '::1', '--port', '9'], { baseUrl: 'http://[::1]:9' }],
    [['--host', '[::1]'], { baseUrl: 'http://[::1]:8000' }],
    [
      ['--temperature', '0', '--top-k', '3', '--extra-body.temperature', '1'],
      { extraBody: { temperature: 1, top_k: 3 } },
    ],
    [['--extra-body.stream', 'false'], { stream: false }],
    [['--unstreamed'], { stream: false }],
    [['--unstreamed', '--extra-body.stream', 'true'], { stream: true }],
    [['--no-ignore-eos'], { ignoreEos: false }],
    [['--omni'], { requestTimeoutS: 900 }],
    [['--omni', '--omni-request-timeout-s', '0'], { requestTimeoutS: 21_600 }],
    [['--request_timeout_s', '7'], { requestTimeoutS: 7 }],
    [['--load-threads', 'auto'], { loadThreads: 'auto' }],
    [
      ['--goodput', 'ttft:200', 'audio_ttft:900', 'audio_rtf:0.5'],
      { goodput: { ttft: 200, audio_ttft: 900, audio_rtf: 0.5 } },
    ],
    [['--metadata', 'a=1', 'a=b=2'], { metadata: { a: 'b=2' } }],
    [['--metric-percentiles', '50,99.9,50'], { metricPercentiles: [50, 99.9] }],
    [['--no-journal'], { journal: false }],
    [['--plot-timeline'], { plotTimeline: [25, 50] }],
    [
      ['--plot-timeline', '--timeline-itl-thresholds', '10,20', '--plot-dataset-stats'],
      { plotTimeline: [10, 20], plotDatasetStats: true },
    ],
    [
      ['--ramp-up-strategy', 'linear', '--ramp-up-start-rps', '1', '--ramp-up-end-rps', '9'],
      { rampUp: { strategy: 'linear', startRps: 1, endRps: 9 } },
    ],
    [['--random-range-ratio', '0.3'], { dataset: { randomRangeRatio: { input: 0.3, output: 0.3 } } }],
    [['--random-range-ratio.output', '0.3'], { dataset: { randomRangeRatio: { input: 0, output: 0.3 } } }],
    [
      ['--input-len', '5', '--output-len', '6', '--random-input-len', '7'],
      { dataset: { randomInputLen: 5, randomOutputLen: 6, sharegptOutputLen: 6, customOutputLen: 6 } },
    ],
    [['--dataset-name', 'custom', '--num-prompts', '0'], { numPrompts: 0, ignoreEos: false }],
  ])('%j', async (argv, expected) => {
    expect((await produce(argv)).options).toMatchObject(expected);
  });

  test('the environment', async () => {
    const env = { OPENAI_API_KEY: 'k', VLLM_OMNI_BENCH_AUDIO_CONTINUITY_THRESHOLD_S: '-1' };
    expect((await produce([], env)).options).toMatchObject({ apiKey: 'k', continuityThresholdS: 0 });
    const { options, notes } = await produce([], { VLLM_OMNI_BENCH_AUDIO_CONTINUITY_THRESHOLD_S: 'abc' });
    expect(options.continuityThresholdS).toBe(0.1);
    expect(notes).toEqual(['Invalid VLLM_OMNI_BENCH_AUDIO_CONTINUITY_THRESHOLD_S=abc; using default 0.1']);
    const pcm = await produce([], {
      VLLM_OMNI_BENCH_AUDIO_SAMPLE_RATE: '44.1k',
      VLLM_OMNI_BENCH_AUDIO_CHANNELS: '0',
    });
    expect(pcm.notes).toEqual([
      'Invalid VLLM_OMNI_BENCH_AUDIO_SAMPLE_RATE=44.1k; using default 24000',
      'Invalid VLLM_OMNI_BENCH_AUDIO_CHANNELS=0; using default 1',
    ]);
  });

  test.each([
    [
      ['--sharegpt-output-len', '5'],
      '--sharegpt-output-len has no effect here: it belongs to the dataset sharegpt.',
    ],
    [
      ['--random-mm-bucket-config', '{}'],
      '--random-mm-bucket-config has no effect here: it belongs to the dataset random-mm.',
    ],
    [['--no-stream'], '--no-stream has no effect here: it belongs to the dataset hf.'],
    [
      ['--dataset-name', 'timed_trace', '--request-rate', '5'],
      "--request-rate has no effect: requests are sent at the trace's times; --no-self-timed ignores these.",
    ],
    [
      ['--dataset-name', 'custom', '--input-len', '5'],
      '--input-len has no effect with --dataset-name custom.',
    ],
    [
      ['--dataset-name', 'workload_trace', '--temperature', '0.1', '--backend', 'openai-chat'],
      '--temperature has no effect: recorded requests are sent as they are.',
    ],
    [
      ['--self-timed'],
      '--self-timed has no effect here: it belongs to the dataset workload_trace, timed_trace.',
    ],
    [['--base-url', 'http://h', '--port', '1'], '--port has no effect with --base-url.'],
    [['--save-detailed'], '--save-detailed has no effect without --save-result or --append-result.'],
  ])('without effect: %j', async (argv, note) => {
    expect((await produce(argv)).notes).toEqual([note]);
  });
});

describe('refused', () => {
  const ramp = (strategy: string, start: string, end: string): string[] => [
    ...['--ramp-up-strategy', strategy, '--ramp-up-start-rps', start, '--ramp-up-end-rps', end],
  ];
  test.each([
    [
      ['--backend', 'opanai-chat'],
      'Unknown backend: opanai-chat. Did you mean openai-chat?\nAvailable backends: openai,',
    ],
    [
      ['--dataset-name', 'shargpt'],
      'Unknown dataset: shargpt. Did you mean sharegpt?\nAvailable datasets: random,',
    ],
    [
      ['--backend', 'openai-chat', '--endpoint', '/v1/completions'],
      "OpenAI Chat Completions API URL must end with one of: {'chat/completions', 'profile'}.",
    ],
    [
      ['--endpoint', '/v1/audio/speech'],
      '--endpoint /v1/audio/speech names no adapter, and no --backend does.',
    ],
    [
      ['--endpoint', '/v1/images/edits/'],
      'Did you mean /v1/images/edits?\nPaths that choose one: /v1/images/',
    ],
    [['--endpoint', '/v1/image/generations'], 'Did you mean /v1/images/generations?'],
    [['--endpoint', '/v1/chat/completions'], 'Name a chat backend: --backend openai-chat'],
    [['--base-url', 'localhost:8000'], "'localhost:8000' is no URL"],
    [['--host', 'a b'], "'a b' is no host name"],
    [
      ['--percentile-metrics', 'ttft,audio_ttpf'],
      "unknown metric 'audio_ttpf'. Did you mean audio_ttfp?\nAllowed: ttft, tpot,",
    ],
    [['--metric-percentiles', '101'], "'101' is no percentile"],
    [['--goodput', 'ttft=5'], 'Specify service level objectives for goodput as "KEY:VALUE" pairs'],
    [['--goodput', 'ttft:x'], 'Invalid format found for service level objectives.'],
    [
      ['--goodput', 'ttf:5'],
      'Invalid metric name found, ttf: 5. The service level objective name should be one of [',
    ],
    [
      ['--goodput', 'ttft:-5'],
      'Invalid value found, ttft: -5. The service level objective value should be non-negative.',
    ],
    [['--header', 'x'], 'Invalid header format. Please use KEY=VALUE format.'],
    [['--header', '=x'], 'Invalid header format. Please use KEY=VALUE format.'],
    [['--burstiness', '0'], 'A positive burstiness factor is expected, but given 0.'],
    [['--request-rate', '0'], '--request-rate must be above 0, got 0.'],
    [['--num-prompts', '0'], '--num-prompts must be at least 1'],
    [['--random-range-ratio', '1'], 'Expected 0 ≤ ratio < 1'],
    [['--random-range-ratio', '{"in": 0.1}'], 'unknown member "in"'],
    [
      [...ramp('linear', '1', '2'), '--request-rate', '5'],
      'When using ramp-up, do not specify --request-rate. ',
    ],
    [
      ['--ramp-up-strategy', 'linear', '--ramp-up-start-rps', '1'],
      'When using --ramp-up-strategy, both --ramp-up-start-rps and --ramp-up-end-rps must be specified',
    ],
    [ramp('linear', '-1', '2'), 'Ramp-up start and end RPS must be non-negative'],
    [ramp('linear', '3', '2'), 'Ramp-up start RPS must be less than end RPS'],
    [ramp('exponential', '0', '2'), 'For exponential ramp-up, the start RPS cannot be 0.'],
    [ramp('linear', '0', '2'), 'For linear ramp-up, the start RPS cannot be 0'],
    [['--ramp-up-end-rps', '2'], 'need --ramp-up-strategy'],
    [['--load-threads', '0'], "'0' is neither a number of threads nor auto"],
    [['--run-dir', 'x', '--no-journal'], '--run-dir and --no-journal contradict each other'],
    [['--timeline-itl-thresholds', '50,25'], "--timeline-itl-thresholds: '50,25'. Expected two numbers"],
    [['--timeline-itl-thresholds', '25'], "--timeline-itl-thresholds: '25'. Expected two numbers"],
    [['--tokenizer-mode', 'mistral'], '--tokenizer-mode mistral is not available'],
    [['--omniinteract-eval-workers', '0'], "must be a positive integer, got '0'"],
  ])('%j', async (argv, message) => {
    await expect(produce(argv)).rejects.toThrow(UsageError);
    await expect(produce(argv)).rejects.toThrow(message);
  });
});
