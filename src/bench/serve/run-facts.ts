import { cpus, release, totalmem } from 'node:os';
import type { ThreadHealth } from '../../drive/messages.ts';
import type { Endpoint, Target } from '../../endpoints/endpoint.ts';
import { hostClockOffsetMs } from '../../foundation/clock.ts';
import { withoutSecrets } from '../../foundation/command-secrets.ts';
import { percentileOfSorted, sortedCopy } from '../../foundation/statistics.ts';
import { omnimeterVersion } from '../../foundation/version.ts';
import type { RequestRecord } from '../../records/request-record.ts';
import type { RpsChangeEvent, RunEnvironment, RunFacts, SelfMeasurement } from '../../records/run-facts.ts';
import type { Pacer } from '../../schedule/pacer.ts';
import { rateSteps } from '../../schedule/rate-plan.ts';
import type { BenchServeOptions } from './options.ts';
import { ratePlan } from './schedule-of.ts';

/** Local time as ISO 8601 with offset; `epochMs` is the wall clock. */
export function localIso(epochMs: number): string {
  const date = new Date(epochMs);
  const offset = -date.getTimezoneOffset();
  const two = (value: number): string => String(Math.floor(Math.abs(value))).padStart(2, '0');
  const local = new Date(epochMs + offset * 60_000).toISOString().slice(0, -1);
  return `${local}${offset < 0 ? '-' : '+'}${two(offset / 60)}:${two(offset % 60)}`;
}

/** The description of a run before it starts; the journal holds it from the first moment. */
export function plannedFacts(
  options: BenchServeOptions,
  run: {
    endpoint: Endpoint;
    target: Target;
    modelId: string;
    tokenizerId: string | null;
    continuityThresholdS: number;
  },
): RunFacts {
  const temperature =
    run.target.extraBody.temperature ?? (run.endpoint.traits.itl === 'token_split' ? 0 : null);
  return {
    format: 1,
    omnimeterVersion,
    // Run folders and reports are handed on.
    argv: withoutSecrets(options.argv),
    startedAt: localIso(Date.now()),
    hostClockOffsetMs: hostClockOffsetMs(),
    startMs: null,
    endMs: null,
    interrupted: false,
    measuredCount: null,
    omni: options.omni,
    endpoint: run.endpoint.traits,
    url: run.target.url,
    modelId: run.modelId,
    servedModelName: options.servedModelName,
    tokenizerId: run.tokenizerId,
    hasTokenizer: run.tokenizerId !== null,
    dataset: options.dataset.name,
    numPrompts: options.numPrompts,
    requestRate: Number.isFinite(options.requestRate) ? options.requestRate : null,
    burstiness: Number.isFinite(options.burstiness) ? options.burstiness : null,
    maxConcurrency: options.maxConcurrency,
    rampUp: options.rampUp,
    rpsChangeEvents: [],
    seed: options.seed,
    label: options.label,
    metadata: options.metadata,
    percentileMetrics: options.percentileMetrics,
    metricPercentiles: options.metricPercentiles,
    goodput: options.goodput,
    printStage: options.printStage,
    continuityThresholdS: run.continuityThresholdS,
    temperature: typeof temperature === 'number' ? temperature : null,
    self: null,
    datasetResults: {},
    datasetLines: [],
    environment: environment(),
  };
}

function environment(): RunEnvironment {
  const cpu = cpus();
  return {
    nodeVersion: process.version,
    platform: `${process.platform} ${release()}`,
    architecture: process.arch,
    cpuModel: cpu[0]?.model.trim() || 'unknown',
    cpuCount: cpu.length,
    memoryBytes: totalmem(),
  };
}

/** When a ramp crossed each whole rate, by the schedule and the run's wall-clock start. */
export function rpsChangeEvents(
  options: BenchServeOptions,
  pacer: Pacer,
  count: number,
  startEpochMs: number,
): RpsChangeEvent[] {
  return rateSteps(ratePlan(options), count).map(({ rps, index }) => ({
    rps,
    timestamp: localIso(startEpochMs + (index === 0 ? 0 : (pacer.dueAtMs(index) ?? 0))),
  }));
}

export function selfMeasurement(
  options: BenchServeOptions,
  seen: {
    threads: number;
    records: readonly RequestRecord[];
    health: readonly ThreadHealth[];
    cpuS: number;
    maxInFlight: number;
  },
): SelfMeasurement {
  const worst = (pick: (health: ThreadHealth) => number): number | null =>
    seen.health.length > 0 ? Math.max(...seen.health.map(pick)) : null;
  const total = (pick: (health: ThreadHealth) => number): number | null =>
    seen.health.length > 0 ? seen.health.reduce((sum, health) => sum + pick(health), 0) : null;
  const lag = sortedCopy(sendLagsMs(seen.records, options.maxConcurrency));
  return {
    loadThreads: seen.threads,
    transport: options.transport,
    arrivalClock: options.arrivalClock,
    sendLagP50Ms: percentileOfSorted(lag, 50),
    sendLagP99Ms: percentileOfSorted(lag, 99),
    sendLagMaxMs: lag.at(-1) ?? null,
    loopDelayP99Ms: worst((health) => health.loopDelayP99Ms),
    loopDelayMaxMs: worst((health) => health.loopDelayMaxMs),
    loopUtilizationRatio: worst((health) => health.loopUtilizationRatio),
    cpuS: seen.cpuS,
    gcPauseMs: total((health) => health.gcPauseMs),
    connectionsOpened: total((health) => health.connectionsOpened),
    connectionsReused: total((health) => health.connectionsReused),
    maxInFlight: seen.maxInFlight,
  };
}

/**
 * How late requests left: from the moment at which each was both due and had a slot, ms. Slots are granted in order, so
 * with a cap of C the k-th to be admitted has its slot once k − C requests have ended (k from 1). What it waited for
 * others before that is the server's doing and stands in `client_queue_time`.
 */
export function sendLagsMs(records: readonly RequestRecord[], maxConcurrency: number | null): number[] {
  const sent = records
    .flatMap(({ attempts, intendedMs, admittedMs }) => {
      const [first] = attempts;
      const last = attempts.at(-1);
      if (!first || !last || intendedMs === null || admittedMs === null) return [];
      return [{ intendedMs, admittedMs, sendMs: first.sendMs, endMs: last.endMs }];
    })
    .sort((a, b) => a.admittedMs - b.admittedMs);
  const endsMs = sortedCopy(sent.map(({ endMs }) => endMs));
  return sent.map(({ intendedMs, sendMs }, order) => {
    const slotMs = maxConcurrency === null ? undefined : endsMs[order - maxConcurrency];
    return sendMs - Math.max(intendedMs, slotMs ?? intendedMs);
  });
}
