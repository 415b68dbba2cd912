import { summarizeSample } from '../foundation/statistics.ts';
import type { RequestRecord } from '../records/request-record.ts';
import type { RunFacts } from '../records/run-facts.ts';
import { latencyEndMsOf, startMsOf } from './latency.ts';
import type { ProbeSummary } from './summary.ts';

/** Latencies of the probes among the records; `null` = none succeeded. */
export function probeSummaryOf(records: readonly RequestRecord[], run: RunFacts): ProbeSummary | null {
  const probes = records.filter((record) => record.role === 'probe');
  const latenciesMs: number[] = [];
  for (const probe of probes) {
    const startMs = startMsOf(probe);
    const endMs = latencyEndMsOf(probe, run.endpoint.latencyEnd);
    if (probe.outcome.ok && startMs !== null && endMs !== null) latenciesMs.push(endMs - startMs);
  }
  const { median, max, percentiles } = summarizeSample(latenciesMs, [99]);
  const p99 = percentiles[0]?.[1] ?? null;
  if (median === null || max === null || p99 === null) return null;
  return {
    completed: latenciesMs.length,
    failed: probes.length - latenciesMs.length,
    medianE2elMs: median,
    p99E2elMs: p99,
    maxE2elMs: max,
  };
}
