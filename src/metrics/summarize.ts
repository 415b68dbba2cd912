import { type SampleSummary, sortedCopy, summarizeSample } from '../foundation/statistics.ts';
import type { RequestRecord } from '../records/request-record.ts';
import type { RunFacts } from '../records/run-facts.ts';
import { requestMetrics, runMetrics, samplesMetrics } from './catalogue.ts';
import { duplexTimingSources } from './duplex-timing.ts';
import { failedRequestsOf, failureGroupsOf } from './failures.ts';
import { probeSummaryOf } from './probe-summary.ts';
import { recordOf } from './record-of.ts';
import { replyNotesOf } from './reply-notes.ts';
import { requestFiguresOf } from './request-figures.ts';
import { inputTokensOf, RunTally } from './run-tally.ts';
import { SampleColumn } from './sample-column.ts';
import { type SampleSketch, sketchOf } from './sample-sketch.ts';
import { stageDurationsOf, stageSummariesOf } from './stage-summary.ts';
import type { RequestRow, RunSummary } from './summary.ts';

/**
 * Everything that reports say of a run, from its records. Pure; the order of the records does not matter.
 * @param records of all roles; only measured ones enter metrics, probes have a block of their own
 */
export function summarize(records: readonly RequestRecord[], facts: RunFacts): RunSummary {
  const measured = records.filter((record) => record.role === 'measured').sort((a, b) => a.index - b.index);
  const succeeded = measured.filter((record) => record.outcome.ok);
  const failed = failedRequestsOf(measured);
  const tally = new RunTally(measured, facts);
  const { distributions, sketches } = distributionsOf(succeeded, facts, tally);
  const figures = tally.figures();
  return {
    facts,
    run: recordOf(runMetrics, (metric) => metric.of(figures)),
    distributions,
    sketches,
    stages: stageSummariesOf(succeeded, facts.metricPercentiles),
    stageDurations: stageDurationsOf(succeeded),
    probe: probeSummaryOf(records, facts),
    failed,
    failureGroups: failureGroupsOf(failed),
    notes: replyNotesOf(succeeded),
    duplexTiming: duplexTimingSources(
      succeeded,
      (record) => (requestFiguresOf(record, facts)?.tokenSpanMs ?? null) !== null,
    ),
    tokensCounted: facts.hasTokenizer || figures.countedReplies > 0,
    hasAudio: figures.audioReplies > 0,
    requests: () => requestRows(measured, facts),
  };
}

/** The one pass over the successful requests: fills the tally on its way. */
function distributionsOf(
  succeeded: readonly RequestRecord[],
  facts: RunFacts,
  tally: RunTally,
): Pick<RunSummary, 'distributions' | 'sketches'> {
  const scalars = recordOf(requestMetrics, (metric) => ({ metric, column: new SampleColumn() }));
  const pools = recordOf(samplesMetrics, (metric) => ({ metric, column: new SampleColumn() }));
  const scalarList = Object.values(scalars);
  const poolList = Object.values(pools);
  for (const record of succeeded) {
    const request = requestFiguresOf(record, facts);
    if (!request) continue;
    tally.add(request);
    for (const { metric, column } of scalarList) {
      const value = metric.of(request);
      if (value !== null) column.push(value);
    }
    for (const { metric, column } of poolList) column.pushAll(metric.of(request));
  }
  const described = describer(facts.metricPercentiles);
  const seen = {
    ...recordOf(scalars, ({ column }) => described(column.values())),
    ...recordOf(pools, ({ metric, column }) => described(column.values(), metric.fixedPercentiles)),
  };
  return {
    distributions: recordOf(seen, ({ distribution }) => distribution),
    sketches: recordOf(seen, ({ sketch }) => sketch),
  };
}

type Described = { readonly distribution: SampleSummary; readonly sketch: SampleSketch | null };

/**
 * Describes samples; the longest is described once where it comes twice. Sorting millions of gaps takes longer than all
 * else, and gaps per token are those per chunk wherever each chunk brought one token.
 */
function describer(
  percentiles: readonly number[],
): (values: Float64Array, fixed?: readonly number[]) => Described {
  let longest: { readonly values: Float64Array; readonly described: Described } | null = null;
  return (values, fixed = []) => {
    const further = fixed.filter((p) => !percentiles.includes(p));
    if (further.length === 0 && longest && sameValues(longest.values, values)) return longest.described;
    const sorted = sortedCopy(values);
    const described = {
      distribution: summarizeSample(values, [...percentiles, ...further], sorted),
      sketch: sketchOf(sorted),
    };
    if (further.length > 0) return described;
    if (!longest || values.length > longest.values.length) longest = { values, described };
    return described;
  };
}

function sameValues(a: Float64Array, b: Float64Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false;
  return true;
}

const nothingObserved = recordOf(requestMetrics, () => null);
const noGaps = new Float64Array(0);

function* requestRows(measured: readonly RequestRecord[], facts: RunFacts): Generator<RequestRow> {
  for (const record of measured) yield requestRowOf(record, facts);
}

/** One request as lists of requests state it. */
export function requestRowOf(record: RequestRecord, facts: RunFacts): RequestRow {
  const request = record.outcome.ok ? requestFiguresOf(record, facts) : null;
  const startMs = record.attempts.at(-1)?.sendMs ?? null;
  return {
    record,
    inputTokens: inputTokensOf(record),
    outputTokens: request?.outputTokens ?? 0,
    // Parts of a run that was cut off lie before this process began, where its clock has no times.
    startS: startMs === null ? null : (startMs + Math.max(0, -(facts.startMs ?? 0))) / 1000,
    values: request ? recordOf(requestMetrics, (metric) => metric.of(request)) : nothingObserved,
    gapsMs: request?.gapsMs ?? noGaps,
  };
}
