import type { RequestRow, RunSummary } from '../../metrics/summary.ts';
import {
  type ExportStatistics,
  epochMs,
  exportStatistics,
  observed,
  runConfig,
  runId,
} from './export-sample.ts';

// AIPerf's `profile_export_aiperf.json`, schema 1.5, and `profile_export.jsonl`, as its documentation describes them
// (docs.nvidia.com/aiperf/reference/json-export-schema). Fields that do not apply are left out, as there.

const percentiles = [1, 5, 10, 25, 50, 75, 90, 95, 99];

type Json = Readonly<Record<string, unknown>>;

/** A distribution over requests. */
function record(unit: string, statistics: ExportStatistics | null): Json | undefined {
  if (statistics === null) return undefined;
  const { mean, min, max, sampleStd, count, sum } = statistics;
  const ranks = percentiles.map((p) => [`p${p}`, statistics.percentile(p)] as const);
  return { unit, avg: mean, min, max, ...Object.fromEntries(ranks), std: sampleStd, count, sum };
}

/** One number of the run. */
function aggregate(unit: string, value: number | null): Json | undefined {
  return value === null ? undefined : { unit, avg: value };
}

/** AIPerf's names of what a request measured, in their units. */
function requestValues(
  row: RequestRow,
): Readonly<Record<string, { value: number | number[]; unit: string } | null>> {
  const { values, record: facts } = row;
  const number = (value: number | null, unit: string) => (value === null ? null : { value, unit });
  const tpot = values.tpot;
  return {
    time_to_first_token: number(values.ttft, 'ms'),
    time_to_first_output_token: number(values.time_to_first_content, 'ms'),
    request_latency: number(values.e2el, 'ms'),
    // AIPerf's inter-token latency is an average of each request: our TPOT.
    inter_token_latency: number(tpot, 'ms'),
    inter_chunk_latency: row.gapsMs.length > 0 ? { value: Array.from(row.gapsMs), unit: 'ms' } : null,
    output_token_throughput_per_user: number(
      tpot === null || tpot === 0 ? null : 1000 / tpot,
      'tokens/sec/user',
    ),
    input_sequence_length: number(row.inputTokens, 'tokens'),
    output_sequence_length: number(facts.outcome.ok ? facts.outputTokens : null, 'tokens'),
  };
}

/** The summary file. */
export function aiperfSummary(summary: RunSummary): Json {
  const { facts, run } = summary;
  const rows = [...summary.requests()];
  const ok = rows.filter(({ record: { outcome } }) => outcome.ok);
  const of = (tag: string): number[] =>
    ok.flatMap((row) => {
      const value = requestValues(row)[tag]?.value;
      return value === undefined ? [] : Array.isArray(value) ? value : [value];
    });
  const distribution = (tag: string, unit: string): Json | undefined =>
    record(unit, exportStatistics(of(tag)));
  const id = runId(summary);
  const good = facts.goodput && Object.keys(facts.goodput).length > 0 ? run.request_goodput : null;
  return withoutUndefined({
    schema_version: '1.5',
    aiperf_version: `omnimeter/${facts.omnimeterVersion}`,
    benchmark_id: id,
    request_throughput: aggregate('requests/sec', run.request_throughput),
    request_latency: record('ms', exportStatistics(observed(ok, 'e2el'))),
    request_count: aggregate('requests', run.completed),
    error_request_count: aggregate('requests', run.failed),
    time_to_first_token: distribution('time_to_first_token', 'ms'),
    time_to_first_output_token: distribution('time_to_first_output_token', 'ms'),
    inter_token_latency: distribution('inter_token_latency', 'ms'),
    inter_chunk_latency: distribution('inter_chunk_latency', 'ms'),
    output_token_throughput: aggregate('tokens/sec', run.output_throughput),
    output_token_throughput_per_user: distribution('output_token_throughput_per_user', 'tokens/sec/user'),
    output_sequence_length: distribution('output_sequence_length', 'tokens'),
    input_sequence_length: distribution('input_sequence_length', 'tokens'),
    total_isl: aggregate('tokens', run.total_input_tokens),
    total_osl: aggregate('tokens', run.total_output_tokens),
    goodput: aggregate('requests/sec', good),
    benchmark_duration: aggregate('sec', run.duration),
    input_config: runConfig(summary),
    was_cancelled: facts.interrupted,
    error_summary: summary.failureGroups.map(({ kind, status, error, count }) => ({
      error_details: { code: status, type: kind, message: error },
      count,
    })),
    start_time: isoOrUndefined(epochMs(summary, facts.startMs)),
    end_time: isoOrUndefined(epochMs(summary, facts.endMs)),
    run_info: {
      benchmark_id: id,
      sweep_id: null,
      random_seed: facts.seed,
      trial: 0,
      run_label: facts.label ?? 'run_0001',
      variation_label: 'base',
      variation_index: 0,
      variation_values: {},
      cli_command: null,
    },
  });
}

function isoOrUndefined(ms: number | null): string | undefined {
  return ms === null ? undefined : new Date(ms).toISOString();
}

function withoutUndefined(fields: Json): Json {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The records, a line per measured request. */
export function* aiperfRecords(summary: RunSummary): Generator<string> {
  const wall = (timeMs: number | null | undefined): number | null => {
    const ms = epochMs(summary, timeMs);
    return ms === null ? null : Math.round(ms * 1e6);
  };
  for (const row of summary.requests()) {
    const { record: facts } = row;
    const { outcome } = facts;
    const last = facts.attempts.at(-1);
    const cancelled = !outcome.ok && outcome.kind === 'aborted';
    const metrics = Object.entries(requestValues(row)).filter(([, value]) => value !== null);
    const line = {
      metadata: {
        session_num: facts.index,
        x_request_id: facts.requestId,
        x_correlation_id: null,
        conversation_id: null,
        turn_index: 0,
        request_start_ns: wall(last?.sendMs),
        request_ack_ns: wall(last?.exchanges.at(-1)?.headersMs),
        request_end_ns: wall(last?.endMs),
        worker_id: 'omnimeter',
        record_processor_id: 'omnimeter',
        benchmark_phase: 'profiling',
        was_cancelled: cancelled,
        cancellation_time_ns: cancelled ? wall(last?.endMs) : null,
      },
      metrics: outcome.ok ? Object.fromEntries(metrics) : {},
      error: outcome.ok ? null : { code: outcome.status, type: outcome.kind, message: outcome.message },
    };
    yield `${JSON.stringify(line)}\n`;
  }
}
