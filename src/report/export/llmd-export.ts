import type { RequestRow, RunSummary } from '../../metrics/summary.ts';
import {
  type ExportStatistics,
  epochMs,
  exportStatistics,
  observed,
  runConfig,
  runId,
} from './export-sample.ts';

// llm-d Benchmark Report v0.2.1 (llm-d/llm-d-benchmark, llmdbenchmark/analysis/benchmark_report/schema_v0_2_1.py):
// strict, so that a key it does not know is an error. What it can't hold stands in scenario.load.native.config.

type Json = Readonly<Record<string, unknown>>;

const percentileKeys = [
  ['p0p1', 0.1],
  ['p1', 1],
  ['p5', 5],
  ['p10', 10],
  ['p25', 25],
  ['p50', 50],
  ['p75', 75],
  ['p90', 90],
  ['p95', 95],
  ['p99', 99],
  ['p99p9', 99.9],
] as const;

function statistics(units: string, found: ExportStatistics | null): Json | undefined {
  if (found === null) return undefined;
  const ranks = percentileKeys.map(([key, p]) => [key, found.percentile(p)] as const);
  return {
    units,
    mean: found.mean,
    stddev: found.std,
    min: found.min,
    ...Object.fromEntries(ranks),
    max: found.max,
  };
}

function rate(units: string, value: number | null): Json | undefined {
  return value === null ? undefined : { units, mean: value };
}

function seconds(valuesMs: readonly number[]): ExportStatistics | null {
  return exportStatistics(valuesMs.map((ms) => ms / 1000));
}

/** The report, for JSON or YAML. */
export function llmdReport(summary: RunSummary): Json {
  const { facts, run } = summary;
  const start = epochMs(summary, facts.startMs);
  const time =
    start === null
      ? undefined
      : defined({
          start: new Date(start).toISOString(),
          end: run.duration === null ? undefined : new Date(start + run.duration * 1000).toISOString(),
          duration: run.duration === null ? undefined : `PT${run.duration}S`,
        });
  return {
    version: '0.2.1',
    run: defined({ uid: runId(summary), time, description: facts.label ?? undefined }),
    ...loadOf(summary),
    results: { request_performance: { aggregate: aggregateOf(summary) } },
  };
}

/** How the load was made; left out where no length of a prompt is known, which the schema demands. */
function loadOf(summary: RunSummary): Json {
  const { facts } = summary;
  const rows = [...summary.requests()];
  const inputs = lengthOf(rows.flatMap(({ inputTokens }) => inputTokens ?? []));
  if (inputs === undefined) return {};
  const load = {
    metadata: { schema_version: '0.0.1', cfg_id: runId(summary) },
    standardized: defined({
      tool: 'omnimeter',
      tool_version: facts.omnimeterVersion,
      parallelism: 1,
      source: facts.dataset.startsWith('random') ? 'random' : 'sampled',
      input_seq_len: inputs,
      output_seq_len: lengthOf(rows.flatMap(({ record }) => record.expectedOutputTokens ?? [])),
      rate_qps: facts.requestRate ?? undefined,
      concurrency: facts.maxConcurrency ?? undefined,
    }),
    native: { config: runConfig(summary) },
  };
  return { scenario: { load } };
}

/** What lengths there were; how they were drawn is not in the records. */
function lengthOf(lengths: readonly number[]): Json | undefined {
  const found = exportStatistics(lengths);
  if (found === null) return undefined;
  if (found.min === found.max) return { distribution: 'fixed', value: found.min };
  return { distribution: 'other', value: found.mean, std_dev: found.std, min: found.min, max: found.max };
}

function aggregateOf(summary: RunSummary): Json {
  const { run } = summary;
  const rows = [...summary.requests()];
  const ok = rows.filter(({ record }) => record.outcome.ok);
  const perSecond = (sum: number | null): number | null =>
    sum === null || run.duration === null || run.duration === 0 ? null : sum / run.duration;
  const normalized = ok.flatMap(({ values, record }) =>
    values.e2el === null || !record.outputTokens ? [] : [values.e2el / record.outputTokens],
  );
  const gaps = ok.flatMap(({ gapsMs }) => Array.from(gapsMs));
  return {
    requests: defined({
      total: rows.length,
      failures: run.failed ?? undefined,
      incomplete: run.aborted ?? undefined,
      input_length: statistics(
        'count',
        exportStatistics(rows.flatMap(({ inputTokens }) => inputTokens ?? [])),
      ),
      output_length: statistics(
        'count',
        exportStatistics(ok.flatMap(({ record }) => record.outputTokens ?? [])),
      ),
      request_size: statistics('bytes', exportStatistics(rows.flatMap(requestBytes))),
    }),
    latency: defined({
      time_to_first_token: statistics('s', seconds(observed(ok, 'ttft'))),
      normalized_time_per_output_token: statistics('s/token', seconds(normalized)),
      time_per_output_token: statistics('s/token', seconds(observed(ok, 'tpot'))),
      inter_token_latency: statistics('s/token', seconds(gaps)),
      request_latency: statistics('s', seconds(observed(ok, 'e2el'))),
    }),
    throughput: defined({
      input_token_rate: rate('tokens/s', perSecond(run.total_input_tokens)),
      output_token_rate: rate('tokens/s', run.output_throughput),
      total_token_rate: rate('tokens/s', run.total_token_throughput),
      request_rate: rate('queries/s', run.request_throughput),
    }),
  };
}

function requestBytes({ record }: RequestRow): number[] {
  const sent = record.attempts.at(-1)?.exchanges[0]?.requestBytes;
  return sent === undefined ? [] : [sent];
}

function defined(fields: Json): Json {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
