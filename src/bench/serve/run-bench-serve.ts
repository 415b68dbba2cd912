import { Conductor, type ConductorOptions, loadThreadCount } from '../../drive/conductor.ts';
import type { PackedRequests, PlannedRequest } from '../../drive/request-table.ts';
import type { Endpoint, Target } from '../../endpoints/endpoint.ts';
import { endpointNamed } from '../../endpoints/registry.ts';
import { EndpointUnavailableError, UsageError } from '../../foundation/errors.ts';
import { formatFloat, formatGeneral } from '../../foundation/python-format.ts';
import type { RequestRecord } from '../../records/request-record.ts';
import type { RunFacts } from '../../records/run-facts.ts';
import { resolveTokenizer } from '../../tokens/resolve-tokenizer.ts';
import type { Tokenizer } from '../../tokens/tokenizer.ts';
import type { Sample } from '../../workloads/sample.ts';
import { openCompanion } from './companions.ts';
import { Interrupts } from './interrupts.ts';
import { loadSamples } from './load-samples.ts';
import { MeasuredRun, type RunResult } from './measured-run.ts';
import type { BenchServeOptions, CommandIo } from './options.ts';
import { plannedRequest, planRequests, runTarget } from './plan-requests.ts';
import { planWarmups } from './plan-warmups.ts';
import { checkReady, warmUp } from './preliminaries.ts';
import { presentRun } from './present-run.ts';
import type { RunCompanion } from './run-companion.ts';
import { plannedFacts } from './run-facts.ts';
import { RunFolder } from './run-folder.ts';
import { checkResultPath } from './save-result.ts';
import { dueTimes, scheduleOf, traceTimesMs } from './schedule-of.ts';
import { ServerCalls } from './server-calls.ts';

/** Everything that is known before the first request leaves. */
type PreparedRun = {
  readonly endpoint: Endpoint;
  readonly target: Target;
  readonly modelId: string;
  readonly tokenizer: Tokenizer | null;
  /** Those that are to be sent. */
  readonly requests: PackedRequests;
  /** The place of each of them in the plan; `null` = they are the plan. */
  readonly places: readonly number[] | null;
  /** How many requests the plan has, with those that an earlier run has done. */
  readonly planned: number;
  readonly warmups: PackedRequests;
  /** What probes send; `null` = there are none. */
  readonly probe: PlannedRequest | null;
  /** When a recording says that each request is due, ms; `null` = the request rate says so. */
  readonly traceMs: readonly number[] | null;
};

/** The request of the probe loop: as small as a request can be. */
const probeSample: Sample = {
  prompt: 'Hi',
  promptTokens: 1,
  expectedOutputTokens: 1,
  media: [],
  requestId: null,
};

/**
 * Measures a running server: plan, readiness, warm-up, load, report.
 * @throws UsageError, InputFileError before anything was sent; EndpointUnavailableError when no run took place
 */
export async function runBenchServe(
  options: BenchServeOptions,
  io: CommandIo,
): Promise<{ exitCode: number }> {
  checkResultPath(options);
  const interrupts = new Interrupts(io);
  const calls = new ServerCalls(options);
  let companion: RunCompanion | null = null;
  try {
    companion = await openCompanion(options, { io, stopped: () => interrupts.count > 0 });
    if (interrupts.count > 0) return { exitCode: 130 };
    const run = await interrupts.race(prepareRun(options, { calls, companion }, io));
    if (run === null || interrupts.count > 0) return { exitCode: 130 };
    return await measure(run, atTraceTimes(run, options), { io, interrupts, calls, companion });
  } finally {
    companion?.close();
    await calls.close();
  }
}

/** A recording's times take the place of a request rate. */
function atTraceTimes({ traceMs }: PreparedRun, options: BenchServeOptions): BenchServeOptions {
  return traceMs === null
    ? options
    : { ...options, requestRate: Number.POSITIVE_INFINITY, burstiness: 1, rampUp: null };
}

async function prepareRun(
  options: BenchServeOptions,
  { calls, companion }: { calls: ServerCalls; companion: RunCompanion | null },
  io: CommandIo,
): Promise<PreparedRun> {
  const endpoint = endpointNamed(options.backend);
  if (!endpoint) throw new UsageError(`Unknown backend: ${options.backend}.`);
  const { modelId, servedName } = await chooseModel(options, calls, io);
  const note = (line: string): void => io.stderr(`note: ${line}`);
  const tokenizer = options.skipTokenizerInit
    ? null
    : await resolveTokenizer({ tokenizer: options.tokenizer, model: modelId, env: process.env, note });
  const target = runTarget(options, endpoint, servedName);
  const all = await loadSamples(options, { tokenizer, endpoint, target, io, companion });
  const samples = all.filter(({ finishedBefore }) => finishedBefore !== true);
  const places =
    samples.length === all.length
      ? null
      : all.flatMap(({ finishedBefore }, place) => (finishedBefore === true ? [] : [place]));
  const requests = await planRequests({ endpoint, target, samples, note }, options);
  const warmups = await planWarmups(options, { endpoint, target, samples, tokenizer, io });
  const probe = options.probeRequestRate > 0 ? probeRequest(endpoint, target) : null;
  await companion?.begin(all);
  return {
    ...{ endpoint, target, modelId, tokenizer, requests, places, planned: all.length, warmups, probe },
    traceMs: traceTimesMs(samples),
  };
}

/** @throws UsageError where the endpoint can't send a probe's prompt, e.g. because it needs media */
function probeRequest(endpoint: Endpoint, target: Target): PlannedRequest {
  try {
    const prepared = endpoint.prepare(probeSample, target);
    if (prepared.unsendable !== undefined) throw new UsageError(prepared.unsendable);
    return plannedRequest(prepared, probeSample);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(
      `--probe-request-rate: --backend ${endpoint.name} can't send the prompt of a probe. ${error.message}`,
    );
  }
}

async function chooseModel(
  options: BenchServeOptions,
  calls: ServerCalls,
  io: CommandIo,
): Promise<{ modelId: string; servedName: string }> {
  if (options.model !== null) return { modelId: options.model, servedName: options.model };
  io.stdout('Model not specified, fetching first model from server...');
  const { served, model } = await calls.firstModel();
  io.stdout(`Using model: ${served}`);
  return { modelId: model, servedName: served };
}

async function measure(
  run: PreparedRun,
  options: BenchServeOptions,
  tools: { io: CommandIo; interrupts: Interrupts; calls: ServerCalls; companion: RunCompanion | null },
): Promise<{ exitCode: number }> {
  const { io, interrupts, companion } = tools;
  const numPrompts = companion === null ? options.numPrompts : run.planned;
  const facts = plannedFacts(
    { ...options, numPrompts },
    {
      endpoint: run.endpoint,
      target: run.target,
      modelId: run.modelId,
      tokenizerId: run.tokenizer?.id ?? null,
      continuityThresholdS: options.continuityThresholdS,
    },
  );
  const folder = RunFolder.open(options, facts, io);
  let conductor: Conductor | null = null;
  try {
    const threads = conductorOptions(options);
    conductor = await Conductor.start(threads);
    const measured = new MeasuredRun(run, options, {
      conductor,
      conductorOptions: threads,
      folder,
      ...tools,
    });
    if (options.omni) io.stdout(`Per-request timeout: ${formatGeneral(options.requestTimeoutS)}s`);
    io.stdout('Starting initial single prompt test run...');
    await checkReady(run.requests, options, measured);
    await warmUp(run.warmups, options, measured);
    if (interrupts.count > 0) return folder.abandon(130);
    io.stdout('Starting main benchmark run...');
    await interrupts.race(startProfiler(options, tools));
    if (interrupts.count > 0) return folder.abandon(130);
    const pacer = scheduleOf(options, run.requests.count, run.traceMs);
    for (const line of trafficBanner(options, run.traceMs !== null)) io.stdout(line);
    const result = await measured.run(facts, pacer, dueTimes(pacer, run.requests.count));
    const finished = await withDatasetResults(result, tools);
    folder.describe(finished.facts);
    const exitCode = await present(finished.facts, finished.records, { options, folder, interrupts, io });
    await interrupts.race(stopProfiler(options, tools));
    return { exitCode };
  } catch (error) {
    folder.keep();
    throw error;
  } finally {
    await conductor?.close();
    folder.close();
  }
}

/** Lets the dataset finish what it does beside the run. A Ctrl-C cuts off its judging, and not what is being written. */
async function withDatasetResults(
  { records, facts }: RunResult,
  { companion, interrupts }: { companion: RunCompanion | null; interrupts: Interrupts },
): Promise<RunResult> {
  if (companion === null) return { records, facts };
  const { results, lines } = await companion.finish(interrupts.count > 0, interrupts.leaver());
  return { records, facts: { ...facts, datasetResults: results, datasetLines: lines } };
}

function conductorOptions(options: BenchServeOptions): ConductorOptions {
  return {
    threads: loadThreadCount(options.loadThreads),
    clock: options.arrivalClock,
    thread: {
      endpoint: options.backend,
      transport: options.transport,
      maxLineBytes: options.maxLineBytes,
      selfWarmup: true,
      transportOptions: {
        newConnectionPerRequest: options.newConnectionPerRequest,
        insecure: options.insecure,
        maxConnections: null,
        connectTimeoutMs: 30_000,
        env: { ...process.env },
      },
    },
  };
}

async function present(
  facts: RunFacts,
  records: readonly RequestRecord[],
  tools: { options: BenchServeOptions; folder: RunFolder; interrupts: Interrupts; io: CommandIo },
): Promise<number> {
  const { options, folder, interrupts, io } = tools;
  const { allFailed, broken } = await presentRun({ facts, records }, options, io);
  const exitCode = interrupts.count > 0 ? 130 : allFailed ? 1 : broken ? 3 : 0;
  folder.end(exitCode);
  return exitCode;
}

/** The lines that announce the load. */
function trafficBanner(options: BenchServeOptions, selfTimed: boolean): string[] {
  const lines: string[] = [];
  if (selfTimed) lines.push('Self timing is set, using the timestamps from the trace file.');
  else if (options.rampUp) {
    const { strategy, startRps, endRps } = options.rampUp;
    lines.push(`Traffic ramp-up strategy: ${strategy}.`);
    lines.push(`Will increase RPS from ${startRps} to ${endRps} RPS over the duration of the benchmark.`);
  } else lines.push(`Traffic request rate: ${formatFloat(options.requestRate)}`);
  const law = options.burstiness === 1 ? 'Poisson process' : 'Gamma distribution';
  if (!selfTimed) lines.push(`Burstiness factor: ${formatFloat(options.burstiness)} (${law})`);
  lines.push(`Maximum request concurrency: ${options.maxConcurrency ?? 'None'}`);
  if (options.probeRequestRate > 0)
    lines.push(`Probe request rate: ${formatFloat(options.probeRequestRate)} req/s`);
  return lines;
}

async function startProfiler(
  options: BenchServeOptions,
  { io, calls }: { io: CommandIo; calls: ServerCalls },
): Promise<void> {
  if (!options.profile) return;
  io.stdout('Starting profiler...');
  const error = await calls.profiler('start_profile');
  if (error !== null)
    throw new EndpointUnavailableError(
      `the server's profiler did not start: ${error}. Start the server with profiling enabled, or leave out --profile.`,
    );
  io.stdout('Profiler started');
}

async function stopProfiler(
  options: BenchServeOptions,
  { io, calls }: { io: CommandIo; calls: ServerCalls },
): Promise<void> {
  if (!options.profile) return;
  io.stdout('Stopping profiler...');
  const error = await calls.profiler('stop_profile');
  if (error === null) io.stdout('Profiler stopped');
  else io.stderr(`warning: the server's profiler did not stop: ${error}`);
}
