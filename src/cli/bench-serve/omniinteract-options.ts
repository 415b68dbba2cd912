import { join } from 'node:path';
import type { OmniInteractRunOptions } from '../../bench/serve/options.ts';
import { UsageError } from '../../foundation/errors.ts';
import { omniInteractSubsets } from '../../workloads/omniinteract/omniinteract-case.ts';
import type { OmniInteractOptions } from '../../workloads/omniinteract/omniinteract-options.ts';
import { type ScenarioTag, scenarioTags } from '../../workloads/omniinteract/scenario-tags.ts';
import type { benchServeFlags } from '../flags/bench-serve/bench-serve-flags.ts';
import type { FlagValues } from '../flags/flag.ts';
import { judgeUrl } from '../judge-url.ts';

type Flags = FlagValues<typeof benchServeFlags>;

const duplexBackend = 'openai-realtime-duplex';
const duplexPath = '/v1/realtime';

/** Which conversations the flags ask for. */
export function omniInteractOptions(flags: Flags): OmniInteractOptions {
  const tags = flags['omniinteract-scenario-tags'] ?? [];
  return {
    subsets: flags['omniinteract-subsets'] ?? omniInteractSubsets,
    scenarioTags: [...new Set(tags)].filter((tag): tag is ScenarioTag =>
      scenarioTags.some((known) => known === tag),
    ),
    scenarioFocus: flags['omniinteract-scenario-focus'],
    videoList: flags['omniinteract-video-list'],
    timeoutS: flags['omniinteract-timeout-s'],
    mediaTimeoutS: flags['omniinteract-media-timeout-s'],
    maxVideoDurationS: flags['omniinteract-max-video-duration-s'],
    refAudio: flags['omniinteract-ref-audio'],
    requireResponse: flags['omniinteract-require-response'],
  };
}

/**
 * What a run of the dataset leaves behind.
 * @returns `null` for other datasets
 */
export function omniInteractRunOptions(flags: Flags): OmniInteractRunOptions | null {
  if (flags['dataset-name'] !== 'omniinteract') return null;
  const outputDir = flags['omniinteract-output-dir'];
  const model = flags['omniinteract-judge-model'];
  if (!flags['omniinteract-evaluate'] || model === null) return { outputDir, evaluation: null };
  return {
    outputDir,
    evaluation: {
      judge: {
        baseUrl: flags['omniinteract-judge-base-url'],
        model,
        apiKey: flags['omniinteract-judge-api-key'],
        timeoutS: flags['omniinteract-judge-timeout-s'],
        maxTokens: flags['omniinteract-judge-max-tokens'],
      },
      promptsFile: flags['judge-prompts'],
      workers: flags['omniinteract-eval-workers'],
      skipExisting: flags['omniinteract-eval-skip-existing'],
      outputDir: flags['omniinteract-eval-output-dir'] ?? join(outputDir, 'evaluation'),
    },
  };
}

/**
 * Refuses what the dataset can't do, in the order and the words of the original. Other datasets are not looked at.
 * @throws UsageError
 */
export function checkOmniInteract(flags: Flags, explicit: ReadonlySet<string>): void {
  if (flags['dataset-name'] !== 'omniinteract') return;
  if (flags.backend !== duplexBackend)
    throw new UsageError(`OmniInteract requires --backend ${duplexBackend}`);
  const endpoint = flags.endpoint?.trim().replace(/^\/?/, '/') ?? duplexPath;
  if (endpoint !== duplexPath) throw new UsageError(`OmniInteract requires --endpoint ${duplexPath}`);
  if (flags['omniinteract-ref-audio'] === null)
    throw new UsageError('OmniInteract requires --omniinteract-ref-audio');
  if (flags['omniinteract-evaluate'] && !flags['omniinteract-judge-model'])
    throw new UsageError('OmniInteract evaluation requires --omniinteract-judge-model');
  if (flags['omniinteract-evaluate'])
    judgeUrl('omniinteract-judge-base-url', flags['omniinteract-judge-base-url']);
  if (flags['omniinteract-video-list'] !== null) {
    const others = ['seed', 'dataset-path', 'omniinteract-scenario-tags', 'omniinteract-scenario-focus'];
    const other = others.find((name) => explicit.has(name));
    if (other !== undefined)
      throw new UsageError(`--omniinteract-video-list cannot be combined with --${other}`);
  }
  if (flags['omniinteract-scenario-focus'] && (flags['omniinteract-scenario-tags'] ?? []).length === 0)
    throw new UsageError('--omniinteract-scenario-focus requires --omniinteract-scenario-tags');
  const refused = [
    ['ignore-eos', flags['ignore-eos'] === true],
    ['profile', flags.profile],
    ['skip-tokenizer-init', flags['skip-tokenizer-init']],
    ['probe-request-rate', flags['probe-request-rate'] > 0],
  ] as const;
  for (const [name, given] of refused)
    if (given) throw new UsageError(`OmniInteract does not support --${name}`);
  const { 'max-concurrency': concurrency } = flags;
  if (concurrency !== null && concurrency <= 0)
    throw new UsageError('OmniInteract requires --max-concurrency to be positive');
  if (flags['num-prompts'] < 0) throw new UsageError('num_prompts must be non-negative');
}

/** A judge that is the server under test would be measured with it. */
export function omniInteractNotes({ evaluation }: OmniInteractRunOptions, baseUrl: string): string[] {
  if (evaluation === null || originOf(evaluation.judge.baseUrl) !== originOf(baseUrl)) return [];
  return [
    `the judge is asked at ${evaluation.judge.baseUrl}, which is the server under test. Point --omniinteract-judge-base-url at a text model, if that is not meant.`,
  ];
}

function originOf(url: string): string {
  const { hostname, port } = URL.canParse(url) ? new URL(url) : { hostname: url, port: '' };
  return `${hostname === 'localhost' ? '127.0.0.1' : hostname}:${port}`;
}
