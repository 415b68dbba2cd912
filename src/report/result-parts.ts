import { type DistributionKey, distributionMetric, stageMetrics } from '../metrics/catalogue.ts';
import { isSelected } from '../metrics/percentile-metrics.ts';
import { keysOf } from '../metrics/record-of.ts';
import type { StageSummary } from '../metrics/summary.ts';
import type { RequestRecord, StageSnapshot } from '../records/request-record.ts';
import {
  type Entry,
  type EntrySource,
  finiteOrNull,
  keyWithUnit,
  percentileList,
  perRequest,
  statistics,
} from './result-entries.ts';

/** Who, what and how much load: the keys before the results. */
export const setup: EntrySource = ({ summary: { facts }, dateLabel }) => {
  const { rampUp } = facts;
  return [
    ['date', dateLabel],
    ['endpoint_type', facts.endpoint.name],
    ['backend', facts.endpoint.name],
    ['label', facts.label],
    ['model_id', facts.modelId],
    ['tokenizer_id', facts.tokenizerId],
    ['num_prompts', facts.numPrompts],
    ...Object.entries(facts.metadata),
    ['request_rate', facts.requestRate ?? 'inf'],
    ['burstiness', finiteOrNull(facts.burstiness) ?? 'inf'],
    ['max_concurrency', facts.maxConcurrency],
    ...(rampUp
      ? ([
          ['ramp_up_strategy', rampUp.strategy],
          ['ramp_up_start_rps', rampUp.startRps],
          ['ramp_up_end_rps', rampUp.endRps],
        ] as const)
      : []),
  ];
};

export const inputLens = perRequest('input_lens', ({ inputTokens }) => inputTokens);
export const startTimes = perRequest('start_times', ({ startS }) => startS);
export const outputLens = perRequest('output_lens', ({ outputTokens }) => outputTokens);
export const itls = perRequest('itls', ({ gapsMs }) => Array.from(gapsMs, (gapMs) => gapMs / 1000));
export const generatedTexts = perRequest('generated_texts', ({ record }) => record.text);
export const errors = perRequest('errors', ({ record: { outcome } }) => (outcome.ok ? '' : outcome.message));

export const rpsChangeEvents: EntrySource = ({ summary: { facts } }) =>
  facts.rpsChangeEvents.length > 0 ? [['rps_change_events', facts.rpsChangeEvents]] : [];

/** Statistics of what `--percentile-metrics` names: text in a fixed order, audio as named, queues last. */
export const selectedStatistics: EntrySource = (context) => {
  const { facts, run } = context.summary;
  const named = facts.percentileMetrics;
  const text: DistributionKey[] = (run.total_output_tokens ?? 0) > 0 ? ['ttft', 'tpot', 'itl'] : [];
  const audio: DistributionKey[] = ['audio_ttfp', 'audio_rtf', 'audio_duration', 'audio_underrun'];
  const inOrder: DistributionKey[] = [
    ...text,
    'e2el',
    ...audio.toSorted((a, b) => named.indexOf(a) - named.indexOf(b)),
    'client_queue_time',
    'e2el_including_client_queue',
  ];
  return inOrder
    .filter((key) => isSelected(distributionMetric(key), named))
    .flatMap((key) => statistics(key)(context));
};

/** What clients waited on this side, whether or not it was asked for: without it a capped run looks too good. */
export const queueStatistics: EntrySource = (context) =>
  (['client_queue_time', 'e2el_including_client_queue'] as const).flatMap((key) => statistics(key)(context));

/** A map per profiler key for each statistic. */
export const stageDurationMaps: EntrySource = ({ summary: { stageDurations } }) =>
  (['mean', 'p50', 'p99'] as const).map((statistic) => [
    `stage_durations_${statistic}`,
    Object.fromEntries(
      stageDurations.map((each) => [
        each.key,
        finiteOrNull(each[statistic === 'p50' ? 'median' : statistic]),
      ]),
    ),
  ]);

/** Stage snapshots of each request: whole in detail, else the four figures that the original keeps. */
export const requestStageMetrics: EntrySource = ({ summary, detailed, rows }) => {
  if (summary.stages.length === 0) return [];
  return [['request_stage_metrics', rows().map(({ record }) => snapshotsOf(record, detailed))]];
};

function snapshotsOf(record: RequestRecord, whole: boolean): unknown {
  if (!record.outcome.ok) return null;
  const maps = record.responses
    .map(({ stages }) => stages)
    .filter((stages) => Object.keys(stages).length > 0)
    .map((stages) =>
      Object.fromEntries(Object.entries(stages).map(([id, each]) => [id, whole ? each : brief(each)])),
    );
  return maps.length > 1 ? maps : (maps[0] ?? null);
}

const briefFields = ['num_tokens_out', 'finish_reason', 'audio_frames', 'audio_duration_s'];

function brief(snapshot: StageSnapshot): StageSnapshot {
  return Object.fromEntries(
    briefFields.filter((field) => field in snapshot).map((field) => [field, snapshot[field]]),
  );
}

export const probeKeys: EntrySource = ({ summary: { probe } }) =>
  probe
    ? [
        ['probe_completed', probe.completed],
        ['probe_failed', probe.failed],
        ['probe_median_e2el_ms', probe.medianE2elMs],
        ['probe_p99_e2el_ms', probe.p99E2elMs],
        ['probe_max_e2el_ms', probe.maxE2elMs],
      ]
    : [];

/** The stage report's figures, which the original only prints. */
export const stageReport: EntrySource = ({ summary: { stages } }) =>
  stages.length > 0 ? [['stages', stages.map(stageObject)]] : [];

function stageObject(stage: StageSummary): Readonly<Record<string, unknown>> {
  const figures = keysOf(stageMetrics).flatMap((key): Entry[] => {
    const sample = stage.distributions[key];
    const { count, mean, median, std } = sample;
    if (count === 0) return [];
    const figure = {
      count,
      total: stage.totals[key],
      mean,
      median,
      std,
      percentiles: percentileList(sample),
    };
    return [[keyWithUnit(stageMetrics[key]), figure]];
  });
  return {
    stage_id: stage.id,
    stage_name: stage.name,
    output: stage.stageClass,
    ...Object.fromEntries(figures),
  };
}

export const failures: EntrySource = ({ summary: { failed } }) => [['failed_requests', failed]];

/** What the load engine saw of itself: `client_*`. */
export const selfMeasurement: EntrySource = ({ summary: { facts } }) =>
  Object.entries(facts.self ?? {}).map(([name, value]) => [
    `client_${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
    typeof value === 'number' ? finiteOrNull(value) : value,
  ]);

/** How the run was made, as far as the keys of the original don't say. */
export const runFacts: EntrySource = ({ summary: { facts } }) => [
  ['temperature', facts.temperature],
  ['interrupted', facts.interrupted],
  ['omnimeter_version', facts.omnimeterVersion],
];
