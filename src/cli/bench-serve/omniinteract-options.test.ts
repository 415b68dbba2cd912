import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpoints } from '../../endpoints/registry.ts';
import { datasets } from '../../workloads/datasets.ts';
import { allBenchServeFlags } from '../flags/bench-serve/bench-serve-flags.ts';
import { parseFlags } from '../flags/parse-flags.ts';
import { benchServeOptions } from './bench-serve-options.ts';

let folder: string;
let voice: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'omnimeter-omniinteract-options-'));
  voice = join(folder, 'reference.wav');
  writeFileSync(voice, '');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function produce(argv: readonly string[]) {
  const parsed = await parseFlags(argv, allBenchServeFlags, {});
  if (parsed.kind === 'help') throw new Error('help');
  return benchServeOptions(parsed.values, parsed.explicit, {
    argv,
    env: {},
    endpoints,
    datasets,
    runHex: '0123abcd',
  });
}

const least = (): string[] => [
  ...['--omni', '--backend', 'openai-realtime-duplex', '--dataset-name', 'omniinteract'],
  ...['--omniinteract-ref-audio', voice],
];

/** The words of the guide's command line, with a reference voice that exists. */
function guide(name: string): string[] {
  const line = readFileSync(new URL(`../__fixtures__/${name}.sh`, import.meta.url), 'utf8');
  const script = `vllm() { shift 2; printf '%s\\0' "$@"; }\n${line}`;
  const words = execFileSync('bash', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
  return words.map((word) => (word === '/path/to/reference.wav' ? voice : word));
}

describe("the guide's command lines, verbatim", () => {
  test('a run', async () => {
    const { options, notes } = await produce(guide('guide-omniinteract'));
    expect(notes).toEqual([]);
    expect(options).toMatchObject({
      backend: 'openai-realtime-duplex',
      endpointPath: '/v1/realtime',
      numPrompts: 3,
      maxConcurrency: 1,
      ignoreEos: false,
      dataset: { path: '/path/to/OmniInteract', omniinteract: { subsets: ['1q1a', '1q1a_math', '1qna'] } },
      omniinteract: { outputDir: './omniinteract-artifacts', evaluation: null },
    });
  });

  test('scenarios', async () => {
    const { options } = await produce(guide('guide-omniinteract-scenarios'));
    expect(options.dataset.omniinteract).toMatchObject({
      scenarioTags: ['realtime', 'proactive', 'nested', 'interrupted', '1qna'],
      scenarioFocus: false,
    });
  });

  test('evaluation', async () => {
    const { options, notes } = await produce(guide('guide-omniinteract-evaluate'));
    expect(notes).toEqual([]);
    expect(options.omniinteract?.evaluation).toEqual({
      judge: {
        baseUrl: 'http://127.0.0.1:8001',
        model: 'Qwen2.5-7B-Instruct',
        apiKey: 'EMPTY',
        timeoutS: 60,
        maxTokens: 512,
      },
      promptsFile: null,
      workers: 8,
      skipExisting: false,
      outputDir: 'omniinteract-artifacts/evaluation',
    });
  });
});

describe('defaults', () => {
  test('are those of the dataset', async () => {
    const { options } = await produce(least());
    expect(options).toMatchObject({
      endpointPath: '/v1/realtime',
      numPrompts: 3,
      maxConcurrency: 1,
      omniinteract: { outputDir: 'omniinteract-output' },
    });
    expect(options.dataset.omniinteract).toEqual({
      subsets: ['1q1a', '1q1a_math', '1qna'],
      scenarioTags: [],
      scenarioFocus: false,
      videoList: null,
      timeoutS: 900,
      mediaTimeoutS: 600,
      maxVideoDurationS: 3600,
      refAudio: voice,
      requireResponse: false,
    });
  });

  test('give way to what is given; 0 is all', async () => {
    const { options } = await produce([...least(), '--num-prompts', '0', '--max-concurrency', '2']);
    expect(options).toMatchObject({ numPrompts: 0, maxConcurrency: 2 });
    expect((await produce([...least(), '--num-prompts', '1000'])).options.numPrompts).toBe(1000);
  });

  test('of other datasets stay', async () => {
    const { options, notes } = await produce(['--omniinteract-require-response', '--dataset-name', 'random']);
    expect(options).toMatchObject({ numPrompts: 1000, maxConcurrency: null, omniinteract: null });
    expect(notes.join()).toContain(
      '--omniinteract-require-response has no effect here: it belongs to the dataset omniinteract',
    );
  });
});

test('a judge at the server under test is said', async () => {
  const judged = ['--omniinteract-evaluate', '--omniinteract-judge-model', 'm'];
  const { notes } = await produce([...least(), ...judged, '--base-url', 'http://localhost:8000']);
  expect(notes.join()).toContain('which is the server under test');
  expect((await produce([...least(), ...judged, '--port', '8002'])).notes).toEqual([]);
});

describe('refusals', () => {
  const list = (): string => {
    writeFileSync(join(folder, 'list.jsonl'), '');
    return join(folder, 'list.jsonl');
  };

  test.each<[string, () => string[], string]>([
    [
      'another backend',
      () => ['--dataset-name', 'omniinteract', '--endpoint', '/v1/x'],
      'OmniInteract requires --backend openai-realtime-duplex',
    ],
    [
      'another endpoint',
      () => ['--dataset-name', 'omniinteract', '--backend', 'openai-realtime-duplex', '--endpoint', '/v1/x'],
      'OmniInteract requires --endpoint /v1/realtime',
    ],
    [
      'no voice',
      () => [
        '--dataset-name',
        'omniinteract',
        '--backend',
        'openai-realtime-duplex',
        '--omniinteract-evaluate',
      ],
      'OmniInteract requires --omniinteract-ref-audio',
    ],
    [
      'no judge',
      () => [...least(), '--omniinteract-evaluate', '--profile'],
      'OmniInteract evaluation requires --omniinteract-judge-model',
    ],
    ...(
      [
        ['seed', '0'],
        ['dataset-path', '/x'],
        ['omniinteract-scenario-tags', 'nested'],
      ] as const
    ).map(([name, value]): [string, () => string[], string] => [
      `a list and --${name}`,
      () => [...least(), '--omniinteract-video-list', list(), `--${name}`, value],
      `--omniinteract-video-list cannot be combined with --${name}`,
    ]),
    [
      'a list and focus',
      () => [...least(), '--omniinteract-video-list', list(), '--omniinteract-scenario-focus'],
      '--omniinteract-video-list cannot be combined with --omniinteract-scenario-focus',
    ],
    [
      'focus without tags',
      () => [...least(), '--omniinteract-scenario-focus', '--profile'],
      '--omniinteract-scenario-focus requires --omniinteract-scenario-tags',
    ],
    [
      'ignore-eos',
      () => [...least(), '--ignore-eos', '--profile'],
      'OmniInteract does not support --ignore-eos',
    ],
    ['profile', () => [...least(), '--profile'], 'OmniInteract does not support --profile'],
    [
      'skip-tokenizer-init',
      () => [...least(), '--skip-tokenizer-init'],
      'OmniInteract does not support --skip-tokenizer-init',
    ],
    [
      'probes',
      () => [...least(), '--probe-request-rate', '1'],
      'OmniInteract does not support --probe-request-rate',
    ],
    [
      'no concurrency',
      () => [...least(), '--max-concurrency', '0'],
      'OmniInteract requires --max-concurrency to be positive',
    ],
    ['fewer than no cases', () => [...least(), '--num-prompts', '-1'], 'num_prompts must be non-negative'],
    [
      'a time limit that is none',
      () => [...least(), '--omniinteract-timeout-s', 'inf'],
      "--omniinteract-timeout-s: must be a finite positive number, got 'inf'",
    ],
    [
      'no workers',
      () => [...least(), '--omniinteract-eval-workers', '0'],
      "--omniinteract-eval-workers: must be a positive integer, got '0'",
    ],
    [
      'a voice that is not there',
      () => [...least(), '--omniinteract-ref-audio', '/no/x.wav'],
      "--omniinteract-ref-audio: file does not exist: '/no/x.wav'",
    ],
    ['an unknown subset', () => [...least(), '--omniinteract-subsets', '2q'], "--omniinteract-subsets: '2q'"],
    [
      'an unknown tag',
      () => [...least(), '--omniinteract-scenario-tags', 'x'],
      "--omniinteract-scenario-tags: 'x'",
    ],
  ])('%s', async (_, argv, message) => {
    await expect(produce(argv())).rejects.toThrow(message);
  });

  test('of concurrency with other datasets', async () => {
    await expect(produce(['--max-concurrency', '0'])).rejects.toThrow(
      '--max-concurrency: 0 is too small. Expected at least 1.',
    );
  });
});
