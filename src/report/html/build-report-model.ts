import {
  type DistributionKey,
  distributionMetric,
  requestMetrics,
  runMetrics,
  type StageMetricKey,
  samplesMetrics,
  stageMetrics,
} from '../../metrics/catalogue.ts';
import type { MetricEntry } from '../../metrics/metric.ts';
import { keysOf } from '../../metrics/record-of.ts';
import { runTimelineOf } from '../../metrics/run-timeline.ts';
import type { StageClass } from '../../metrics/stage-rows.ts';
import { requestRowOf } from '../../metrics/summarize.ts';
import type { RunSummary } from '../../metrics/summary.ts';
import type { RequestRecord } from '../../records/request-record.ts';
import type { RunFacts } from '../../records/run-facts.ts';
import { renderReplyNotes } from '../reply-notes.ts';
import { stageLayouts } from '../stage-layout.ts';
import { type ChosenRow, chooseRows } from './choose-rows.ts';
import { compact, compactAll, compactOrNull, excerpt } from './compact.ts';
import { pathSummariesOf } from './path-summary.ts';
import {
  type Distribution,
  type Figure,
  type ReportModel,
  type RequestTable,
  type RunHead,
  reportModelVersion,
  type StageRowModel,
  type Timeline,
} from './report-model.ts';
import { requestDetailOf } from './request-detail.ts';
import { configurationOf, methodFacts, probeFacts } from './run-facts-model.ts';
import { shellCommand } from './shell-command.ts';

const failureGroups = 30;
const messageLength = 2000;
const bodyLength = 4000;
const longestCommand = 8000;

/**
 * What the HTML page shows of a run. Pure.
 * @param records of all roles, in any order
 */
export function buildReportModel(records: readonly RequestRecord[], summary: RunSummary): ReportModel {
  const { facts } = summary;
  const measured = records.filter(({ role }) => role === 'measured').sort((a, b) => a.index - b.index);
  const rows = chooseRows(measured, facts);
  const { figures, distributions } = { figures: figuresOf(summary), distributions: distributionsOf(summary) };
  return {
    version: reportModelVersion,
    omnimeterVersion: facts.omnimeterVersion,
    run: headOf(summary),
    figures,
    distributions,
    timeline: timelineOf(measured, facts),
    paths: pathSummariesOf(measured, facts),
    stages: stageRowsOf(summary),
    stagePercentiles: facts.metricPercentiles,
    stageDurations: summary.stageDurations.map(({ key, mean, median, p99 }) => ({
      key: key.slice(0, 200),
      mean: compact(mean),
      median: compact(median),
      p99: compact(p99),
    })),
    requests: requestTableOf(rows, measured, summary),
    details: Object.fromEntries(
      rows.flatMap(({ record, detailed }) =>
        detailed ? [[String(record.index), requestDetailOf(record, facts)]] : [],
      ),
    ),
    failures: summary.failureGroups.slice(0, failureGroups).map(({ kind, status, count, error, body }) => ({
      kind,
      status,
      count,
      message: excerpt(error, messageLength),
      body: body === null ? null : excerpt(body, bodyLength),
    })),
    method: methodFacts(facts),
    probes: probeFacts(summary),
    configuration: configurationOf(facts),
    command: shellCommand(facts.argv).slice(0, longestCommand),
    notes: notesOf(summary),
  };
}

function headOf({ facts, run }: RunSummary): RunHead {
  return {
    model: (facts.servedModelName ?? facts.modelId).slice(0, 300),
    endpoint: facts.endpoint.name.slice(0, 100),
    dataset: facts.dataset.slice(0, 200),
    label: facts.label?.slice(0, 300) ?? null,
    startedAt: facts.startedAt.slice(0, 100),
    durationS: compactOrNull(run.duration),
    state: facts.endMs === null ? 'cut_off' : facts.interrupted ? 'interrupted' : 'complete',
    planned: facts.numPrompts,
    completed: run.completed ?? 0,
    failed: run.failed ?? 0,
    aborted: run.aborted ?? 0,
  };
}

function figuresOf(summary: RunSummary): Figure[] {
  return keysOf(runMetrics).flatMap((key) => {
    const value = compactOrNull(summary.run[key]);
    const { title, unit, modality, doc } = runMetrics[key];
    // Sums of media that the replies do not have.
    const isOther = value === 0 && modality !== 'any';
    return value === null || isOther ? [] : [{ key, title, unit, modality, doc, value }];
  });
}

/** Samples within a reply stand beside the mean over the reply. */
const distributionOrder: readonly DistributionKey[] = keysOf(requestMetrics).flatMap((key) =>
  key === 'tpot' ? [key, ...keysOf(samplesMetrics)] : [key],
);

function distributionsOf(summary: RunSummary): Distribution[] {
  return distributionOrder.flatMap((key) => {
    const { count, mean, std } = summary.distributions[key];
    const sketch = summary.sketches[key];
    if (!sketch || mean === null || std === null) return [];
    const metric: MetricEntry = distributionMetric(key);
    return [
      {
        key,
        label: metric.label,
        title: metric.title,
        unit: metric.unit,
        modality: metric.modality,
        doc: metric.doc,
        count,
        mean: compact(mean),
        std: compact(std),
        scale: sketch.scale,
        edges: sketch.edges.map(precise),
        counts: sketch.counts,
        quantiles: sketch.quantiles.map(([p, value]) => [p, compact(value)] as const),
        objective: compactOrNull(summary.facts.goodput[key]),
      },
    ];
  });
}

/** Edges of narrow bins must stay apart. */
function precise(value: number): number {
  return Number(value.toPrecision(7));
}

function timelineOf(measured: readonly RequestRecord[], facts: RunFacts): Timeline | null {
  const timeline = runTimelineOf(measured, facts);
  if (!timeline) return null;
  return {
    stepS: timeline.stepMs / 1000,
    due: compactAll(timeline.due),
    sent: compactAll(timeline.sent),
    succeeded: compactAll(timeline.succeeded),
    failed: compactAll(timeline.failed),
    inFlight: compactAll(timeline.inFlight),
    outputTokens: compactAll(timeline.outputTokens),
    audioS: compactAll(timeline.audioS),
  };
}

const mostStages = 40;

function stageRowsOf({ stages }: RunSummary): StageRowModel[] {
  return stages.slice(0, mostStages).flatMap((stage) =>
    stageMetricsOf(stage.stageClass).flatMap((key) => {
      const { count, mean, median, max, percentiles } = stage.distributions[key];
      if (mean === null || median === null || max === null || max === 0) return [];
      return [
        {
          stage: stage.id.slice(0, 20),
          name: stage.name.slice(0, 80),
          metric: stageMetrics[key].label,
          unit: stageMetrics[key].unit,
          doc: stageMetrics[key].doc,
          count,
          mean: compact(mean),
          median: compact(median),
          percentiles: percentiles.map(([, value]) => compactOrNull(value)),
          max: compact(max),
        },
      ];
    }),
  );
}

/** What the report prints of a kind of stage; other metrics say the same under another name. */
function stageMetricsOf(stageClass: StageClass): StageMetricKey[] {
  const keys = stageLayouts[stageClass].flatMap((item) => (item.kind === 'title' ? [] : [item.metric]));
  return [...new Set(keys)];
}

function requestTableOf(
  rows: readonly ChosenRow[],
  measured: readonly RequestRecord[],
  { facts, distributions }: RunSummary,
): RequestTable {
  const observed = keysOf(requestMetrics).filter((key) => distributions[key].count > 0);
  const originMs = facts.startMs ?? measured[0]?.attempts[0]?.sendMs ?? 0;
  return {
    total: measured.length,
    failedTotal: measured.filter(({ outcome }) => !outcome.ok).length,
    columns: observed.map((key) => {
      const { label, title, unit } = requestMetrics[key];
      return { key, label, title, unit };
    }),
    rows: rows.map(({ record, reason }) => {
      const row = requestRowOf(record, facts);
      const sendMs = record.attempts.at(-1)?.sendMs;
      return {
        index: record.index,
        reason,
        outcome: record.outcome.ok ? 'ok' : record.outcome.kind,
        startS: sendMs === undefined ? null : compactOrNull((sendMs - originMs) / 1000),
        inputTokens: row.inputTokens,
        outputTokens: record.outcome.ok ? row.outputTokens : null,
        messages: record.events.kinds.length,
        values: observed.map((key) => compactOrNull(row.values[key])),
      };
    }),
  };
}

function notesOf(summary: RunSummary): string[] {
  const { facts, run } = summary;
  const notes = renderReplyNotes(summary);
  if (facts.endMs === null)
    notes.unshift('This run was cut off; the page covers the requests that had finished.');
  else if (facts.interrupted) notes.unshift('This run was interrupted by the user.');
  if ((run.completed ?? 0) === 0 && summary.failed.length > 0)
    notes.unshift('All requests failed. This is likely due to a misconfiguration of the benchmark.');
  return notes.map((note) => note.slice(0, 600));
}
