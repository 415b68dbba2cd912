import type { RequestRow, RunSummary } from '../../metrics/summary.ts';
import { eventKinds } from '../../records/event-log.ts';
import { epochMs, exportStatistics, runConfig } from './export-sample.ts';

// GuideLLM's `benchmarks.json`, report version 2 (vllm-project/guidellm, src/guidellm/benchmark/schemas and
// src/guidellm/schemas). Times are seconds since 1970. Percentiles are interpolated; GuideLLM takes the next value.

type Json = Readonly<Record<string, unknown>>;
type Status = 'successful' | 'incomplete' | 'errored';

const statuses: readonly Status[] = ['successful', 'incomplete', 'errored'];
const percentileKeys = [
  ['p001', 0.1],
  ['p01', 1],
  ['p05', 5],
  ['p10', 10],
  ['p25', 25],
  ['p50', 50],
  ['p75', 75],
  ['p90', 90],
  ['p95', 95],
  ['p99', 99],
  ['p999', 99.9],
] as const;

function statusOf({ record: { outcome } }: RequestRow): Status {
  if (outcome.ok) return 'successful';
  return outcome.kind === 'aborted' ? 'incomplete' : 'errored';
}

/** A distribution; GuideLLM writes zeros where nothing was observed, and counts 0. */
function distribution(values: readonly number[]): Json {
  const found = exportStatistics(values);
  const of = (value: number | undefined): number => value ?? 0;
  return {
    mean: of(found?.mean),
    median: of(found?.percentile(50)),
    mode: modeOf(values),
    variance: of(found ? found.std ** 2 : undefined),
    std_dev: of(found?.std),
    min: of(found?.min),
    max: of(found?.max),
    count: of(found?.count),
    total_sum: of(found?.sum),
    percentiles: Object.fromEntries(percentileKeys.map(([key, p]) => [key, of(found?.percentile(p))])),
    pdf: null,
  };
}

/** The most frequent value; the least of several. */
function modeOf(values: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  let mode = 0;
  let most = 0;
  for (const [value, count] of counts) {
    if (count < most || (count === most && value > mode)) continue;
    mode = value;
    most = count;
  }
  return mode;
}

function split(rows: readonly RequestRow[], of: (row: RequestRow) => number | null): Json {
  const pick = (wanted: Status | null): number[] =>
    rows.filter((row) => wanted === null || statusOf(row) === wanted).flatMap((row) => of(row) ?? []);
  return {
    ...Object.fromEntries(statuses.map((status) => [status, distribution(pick(status))])),
    total: distribution(pick(null)),
  };
}

/** A rate or level of the whole run, where GuideLLM has a distribution over time. */
function constant(value: number | null): Json {
  const values = value === null ? [] : [value];
  return {
    successful: distribution(values),
    incomplete: distribution([]),
    errored: distribution([]),
    total: distribution(values),
  };
}

function totals(rows: readonly RequestRow[]): Json {
  const count = (status: Status): number => rows.filter((row) => statusOf(row) === status).length;
  return { ...Object.fromEntries(statuses.map((status) => [status, count(status)])), total: rows.length };
}

/** @param platform of the machine, e.g. `linux-x64` */
export function guidellmReport(summary: RunSummary, platform: string): Json {
  const { facts, run } = summary;
  const rows = [...summary.requests()];
  const seconds = (timeMs: number | null | undefined): number | null => {
    const ms = epochMs(summary, timeMs);
    return ms === null ? null : ms / 1000;
  };
  const start = seconds(facts.startMs) ?? 0;
  const end = start + (run.duration ?? 0);
  const queues = rows.flatMap(({ record }) => {
    const sent = record.attempts[0]?.sendMs;
    return sent === undefined || record.intendedMs === null ? [] : [(sent - record.intendedMs) / 1000];
  });
  const startDelay = exportStatistics(queues)?.mean ?? -1;
  return {
    metadata: {
      version: 2,
      guidellm_version: `omnimeter/${facts.omnimeterVersion}`,
      python_version: 'none',
      platform,
    },
    config: runConfig(summary),
    benchmarks: [
      {
        type_: 'generative_benchmark',
        config: runConfig(summary),
        scheduler_state: {
          start_time: start,
          end_time: end,
          created_requests: rows.length,
          processed_requests: rows.length,
        },
        scheduler_metrics: {
          start_time: start,
          request_start_time: start,
          measure_start_time: start,
          measure_end_time: end,
          request_end_time: end,
          end_time: end,
          requests_made: totals(rows),
          queued_time_avg: startDelay,
          resolve_start_delay_avg: -1,
          resolve_targeted_start_delay_avg: startDelay,
          request_start_delay_avg: -1,
          request_targeted_start_delay_avg: startDelay,
          request_time_avg:
            (exportStatistics(rows.flatMap(({ values }) => values.e2el ?? []))?.mean ?? -1000) / 1000,
          resolve_end_delay_avg: -1,
          resolve_time_avg: -1,
          finalized_delay_avg: -1,
          processed_delay_avg: -1,
        },
        metrics: metricsOf(summary, rows),
        requests: requestsOf(rows, seconds),
        start_time: start,
        end_time: end,
        duration: end - start,
        warmup_duration: 0,
        cooldown_duration: 0,
      },
    ],
  };
}

function metricsOf({ run }: RunSummary, rows: readonly RequestRow[]): Json {
  const output = (row: RequestRow): number | null => (row.record.outcome.ok ? row.record.outputTokens : null);
  const perOutput = (row: RequestRow): number | null => {
    const tokens = output(row);
    return tokens === null || tokens === 0 || row.values.e2el === null ? null : row.values.e2el / tokens;
  };
  const inputRate =
    run.total_input_tokens !== null && run.duration ? run.total_input_tokens / run.duration : null;
  return {
    request_totals: totals(rows),
    requests_per_second: constant(run.request_throughput),
    request_concurrency: constant(meanConcurrency(run.duration, rows)),
    request_latency: split(rows, ({ values }) => (values.e2el === null ? null : values.e2el / 1000)),
    request_streaming_iterations_count: split(rows, ({ record }) => record.events.timesMs.length),
    prompt_token_count: split(rows, ({ inputTokens }) => inputTokens),
    output_token_count: split(rows, output),
    total_token_count: split(rows, (row) => (row.inputTokens ?? 0) + (output(row) ?? 0)),
    time_to_first_token_ms: split(rows, ({ values }) => values.ttft),
    time_to_first_output_token_ms: split(rows, ({ values }) => values.time_to_first_content),
    // Including the first token there; our TPOT excludes it and is its inter-token latency.
    time_per_output_token_ms: split(rows, perOutput),
    inter_token_latency_ms: split(rows, ({ values }) => values.tpot),
    prompt_tokens_per_second: constant(inputRate),
    output_tokens_per_second: constant(run.output_throughput),
    tokens_per_second: constant(run.total_token_throughput),
    output_tokens_per_iteration: split(rows, (row) => perIteration(output(row), row, 0)),
    iter_tokens_per_iteration: split(rows, (row) => perIteration(output(row), row, 1)),
    text: { tokens: null, words: null, characters: null },
    image: {
      tokens: null,
      images: media(rows, ({ record }) => record.image?.count ?? null),
      pixels: media(rows, ({ record }) => record.image?.pixels ?? null),
      bytes: null,
    },
    video: {
      tokens: null,
      frames: media(rows, ({ record }) => record.video?.frames ?? null),
      seconds: media(rows, ({ record }) => record.video?.durationS ?? null),
      bytes: null,
    },
    audio: {
      tokens: null,
      samples: media(rows, ({ record }) => record.audio?.frames ?? null),
      seconds: media(rows, ({ record }) => record.audio?.durationS ?? null),
      bytes: media(rows, ({ record }) => record.audio?.bytes ?? null),
    },
    tool_call: { tokens: null, mixed_tokens: null, count: null },
  };
}

function meanConcurrency(durationS: number | null, rows: readonly RequestRow[]): number | null {
  if (durationS === null || durationS === 0) return null;
  return rows.reduce((sum, { values }) => sum + (values.e2el ?? 0) / 1000, 0) / durationS;
}

function tokenIterations({ record }: RequestRow): number {
  const tokenKinds: readonly number[] = [
    eventKinds.text,
    eventKinds.reasoning,
    eventKinds.tool,
    eventKinds.refusal,
  ];
  return record.events.kinds.reduce((sum, kind) => sum + (tokenKinds.includes(kind) ? 1 : 0), 0);
}

function perIteration(tokens: number | null, row: RequestRow, less: number): number | null {
  const iterations = tokenIterations(row) - less;
  return tokens === null || tokens <= less || iterations < 1 ? null : (tokens - less) / iterations;
}

/** What replies held of a medium; `null` where none held any. */
function media(rows: readonly RequestRow[], of: (row: RequestRow) => number | null): Json | null {
  if (rows.every((row) => of(row) === null)) return null;
  const none = { input: null, input_per_second: null, input_concurrency: null };
  const rest = {
    output_per_second: null,
    output_concurrency: null,
    total: null,
    total_per_second: null,
    total_concurrency: null,
  };
  return { ...none, output: split(rows, of), ...rest };
}

function requestsOf(
  rows: readonly RequestRow[],
  seconds: (timeMs: number | null | undefined) => number | null,
): Json {
  const of = (status: Status): Json[] =>
    rows.filter((row) => statusOf(row) === status).map((row) => requestJson(row, status, seconds));
  return { successful: of('successful'), incomplete: of('incomplete'), errored: of('errored'), total: null };
}

function requestJson(
  row: RequestRow,
  status: Status,
  seconds: (timeMs: number | null | undefined) => number | null,
): Json {
  const { record, values } = row;
  const last = record.attempts.at(-1);
  const sendMs = last?.sendMs ?? null;
  const after = (ms: number | null): number | null =>
    sendMs === null || ms === null ? null : seconds(sendMs + ms);
  const { timesMs } = record.events;
  const ok = record.outcome.ok;
  const lastTokenMs =
    values.ttft === null || values.tpot === null || record.outputTokens === null
      ? values.ttft
      : values.ttft + values.tpot * (record.outputTokens - 1);
  return {
    type_: 'generative_request_stats',
    request_id: record.requestId ?? `request-${record.index}`,
    response_id: record.responses[0]?.id ?? null,
    request_args: null,
    output: ok ? record.text : null,
    info: {
      request_id: record.requestId ?? `request-${record.index}`,
      status: status === 'successful' ? 'completed' : status === 'incomplete' ? 'cancelled' : 'errored',
      scheduler_node_id: 0,
      scheduler_process_id: 0,
      scheduler_start_time: seconds(record.intendedMs) ?? -1,
      timings: {
        targeted_start: seconds(record.intendedMs),
        queued: seconds(record.intendedMs),
        dequeued: seconds(record.admittedMs),
        scheduled_at: seconds(record.admittedMs),
        resolve_start: seconds(record.attempts[0]?.sendMs ?? record.admittedMs),
        request_start: seconds(sendMs),
        first_request_iteration: seconds(timesMs[0] ?? null),
        first_token_iteration: after(values.ttft),
        first_output_token_iteration: after(values.time_to_first_content),
        last_token_iteration: after(lastTokenMs),
        last_request_iteration: seconds(timesMs.at(-1) ?? null),
        request_iterations: timesMs.length,
        token_iterations: tokenIterations(row),
        request_end: seconds(last?.endMs ?? null),
        resolve_end: seconds(last?.endMs ?? record.admittedMs),
        finalized: seconds(last?.endMs ?? null),
      },
      error: record.outcome.ok ? null : record.outcome.message,
      traceback: null,
    },
    input_metrics: { text_tokens: row.inputTokens },
    output_metrics: { text_tokens: record.outputTokens },
  };
}
