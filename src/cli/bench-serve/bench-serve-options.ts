import type { BenchServeOptions } from '../../bench/serve/options.ts';
import { UsageError } from '../../foundation/errors.ts';
import { allBenchServeFlags, type benchServeFlags } from '../flags/bench-serve/bench-serve-flags.ts';
import type { Environment } from '../flags/environment.ts';
import type { FlagValues } from '../flags/flag.ts';
import { type DatasetCatalogue, datasetOptions, numPrompts } from './dataset-options.ts';
import { effectlessFlags } from './effectless-flags.ts';
import { checkPcmSettings, continuityThresholdS } from './environment-settings.ts';
import {
  loadThreads,
  maxConcurrency,
  positiveBurstiness,
  positiveRate,
  rampUp,
  requestTimeoutS,
} from './load-options.ts';
import { checkOmniInteract, omniInteractNotes, omniInteractRunOptions } from './omniinteract-options.ts';
import { checkRunOutputs } from './output-files.ts';
import {
  goodput,
  metadata,
  metricPercentiles,
  percentileMetrics,
  plots,
  thresholds,
} from './report-options.ts';
import { type EndpointCatalogue, type EndpointFacts, resolveTarget } from './resolve-target.ts';

type Flags = FlagValues<typeof benchServeFlags>;

/** What the flags alone do not say. */
export type Surroundings = {
  readonly argv: readonly string[];
  readonly env: Environment;
  readonly endpoints: EndpointCatalogue;
  readonly datasets: DatasetCatalogue;
  /** Eight hex digits for this run's request ids. */
  readonly runHex: string;
};

export type ProducedOptions = {
  readonly options: BenchServeOptions;
  /** Lines for the user: flags without effect, settings that could not be read. */
  readonly notes: readonly string[];
};

/**
 * Checks the flags of `bench serve` against each other and turns them into what was asked for.
 * @throws UsageError with the reference's wording where it has one; nothing has been sent
 */
export function benchServeOptions(
  flags: Flags,
  explicit: ReadonlySet<string>,
  around: Surroundings,
): ProducedOptions {
  checkOmniInteract(flags, explicit);
  const notes: string[] = [];
  const target = resolveTarget(flags, explicit, around.endpoints);
  const dataset = datasetOptions(flags, explicit, around.datasets);
  const defaults = around.datasets[dataset.name]?.defaults;
  const omniinteract = omniInteractRunOptions(flags);
  const extraBody = bodyFields(flags, target.facts);
  const saves = flags['save-result'] || flags['append-result'];
  notes.push(
    ...effectlessFlags(explicit, allBenchServeFlags, {
      dataset: dataset.name,
      datasets: around.datasets,
      selfTimed: dataset.selfTimed,
      saves,
      endpoint: target.facts,
    }),
  );
  if (omniinteract !== null) notes.push(...omniInteractNotes(omniinteract, target.baseUrl));
  checkPcmSettings(around.env, (line) => notes.push(line));
  const options: BenchServeOptions = {
    argv: around.argv,
    omni: flags.omni,
    ...connection(flags, around.env),
    backend: target.backend,
    baseUrl: target.baseUrl,
    endpointPath: target.endpointPath,
    ...load(flags),
    maxConcurrency: maxConcurrency(flags['max-concurrency']) ?? defaults?.maxConcurrency ?? null,
    numPrompts: numPrompts(
      explicit.has('num-prompts') ? flags['num-prompts'] : (defaults?.numPrompts ?? flags['num-prompts']),
      dataset.name,
      around.datasets,
    ),
    stream: extraBody.stream === undefined ? !flags.unstreamed : extraBody.stream !== false,
    ignoreEos:
      flags['ignore-eos'] ??
      (around.datasets[dataset.name]?.meaningless === true && target.facts.samplingParameters),
    logprobs: flags.logprobs,
    extraBody,
    videoDownload: flags['video-download'],
    requestIdPrefix: flags['request-id-prefix'] ?? `bench-${around.runHex}-`,
    dataset,
    omniinteract,
    ...report(flags, target.facts),
    continuityThresholdS: continuityThresholdS(around.env, (line) => notes.push(line)),
  };
  checkRunOutputs(options, [
    options.dataset.path,
    flags.config,
    options.tokenizer,
    omniinteract?.evaluation?.promptsFile ?? null,
  ]);
  return { options, notes };
}

function connection(flags: Flags, env: Environment) {
  const mode = flags['tokenizer-mode'];
  if (mode === 'mistral' || mode === 'deepseek_v32')
    throw new UsageError(
      `--tokenizer-mode ${mode} is not available in this version of omnimeter. Use auto with a tokenizer.json, or --skip-tokenizer-init.`,
    );
  const nameless = flags.header?.find(([name]) => name === '');
  if (nameless !== undefined) throw new UsageError('Invalid header format. Please use KEY=VALUE format.');
  return {
    headers: flags.header ?? [],
    apiKey: env.OPENAI_API_KEY || null,
    insecure: flags.insecure,
    model: flags.model,
    servedModelName: flags['served-model-name'],
    tokenizer: flags.tokenizer,
    tokenizerMode: mode,
    trustRemoteCode: flags['trust-remote-code'],
    skipTokenizerInit: flags['skip-tokenizer-init'],
    loraModules: flags['lora-modules'] ?? [],
    loraAssignment: flags['lora-assignment'],
  };
}

function load(flags: Flags) {
  return {
    requestRate: positiveRate(flags['request-rate']),
    burstiness: positiveBurstiness(flags.burstiness),
    rampUp: rampUp(flags),
    probeRequestRate: flags['probe-request-rate'],
    numWarmups: flags['num-warmups'],
    warmupPrompts: flags['warmup-prompts'],
    readyCheckTimeoutS: Math.max(0, flags['ready-check-timeout-sec']),
    profile: flags.profile,
    seed: flags.seed,
    loadThreads: loadThreads(flags['load-threads']),
    arrivalClock: flags['arrival-clock'],
    transport: flags.transport,
    newConnectionPerRequest: flags['new-connection-per-request'],
    requestTimeoutS: requestTimeoutS(flags['omni-request-timeout-s'], flags.omni),
    maxLineBytes: flags['max-line-bytes'],
  };
}

function report(flags: Flags, facts: EndpointFacts) {
  if (flags['no-journal'] && flags['run-dir'] !== null)
    throw new UsageError('--run-dir and --no-journal contradict each other. Give one of them.');
  return {
    percentileMetrics: percentileMetrics(flags['percentile-metrics'] ?? defaultMetrics[facts.task]),
    metricPercentiles: metricPercentiles(flags['metric-percentiles']),
    goodput: goodput(flags.goodput ?? []),
    printStage: flags['print-stage'],
    saveResult: flags['save-result'],
    saveDetailed: flags['save-detailed'],
    appendResult: flags['append-result'],
    resultDir: flags['result-dir'],
    resultFilename: flags['result-filename'],
    html: flags.html,
    ...plots(flags),
    thresholds: thresholds(flags.threshold ?? []),
    label: flags.label,
    metadata: metadata(flags.metadata ?? []),
    runDir: flags['run-dir'],
    journal: !flags['no-journal'],
    disableProgress: flags['disable-tqdm'],
    live: !flags['no-live'],
  };
}

/** What is reported without --percentile-metrics. */
const defaultMetrics = { generation: ['ttft', 'tpot', 'itl'], pooling: ['e2el'] } as const;

const samplingFlags = [
  ['top_p', 'top-p'],
  ['top_k', 'top-k'],
  ['min_p', 'min-p'],
  ['temperature', 'temperature'],
  ['frequency_penalty', 'frequency-penalty'],
  ['presence_penalty', 'presence-penalty'],
  ['repetition_penalty', 'repetition-penalty'],
] as const;

/** Sampling parameters first, then `--extra-body`, which wins, then what an API has a default for. */
function bodyFields(flags: Flags, facts: EndpointFacts): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const [field, name] of samplingFlags) if (flags[name] !== null) body[field] = flags[name];
  if (Object.keys(body).length > 0 && !facts.samplingParameters)
    throw new UsageError('Sampling parameters are only supported by openai-compatible backends.');
  const refused = facts.refusedSampling?.find((field) => field in body);
  if (refused !== undefined)
    throw new UsageError(`--${refused.replaceAll('_', '-')} is not supported by --backend ${facts.name}.`);
  return { ...body, ...flags['extra-body'], ...botTask(flags, facts) };
}

/** `--image-edits-bot-task`, where the API takes it and `--extra-body` says nothing of it. */
function botTask(flags: Flags, facts: EndpointFacts): Record<string, unknown> {
  const task = flags['image-edits-bot-task'];
  const said = flags['extra-body'] !== null && 'bot_task' in flags['extra-body'];
  return facts.takesBotTask && !said && task !== '' ? { bot_task: task } : {};
}
