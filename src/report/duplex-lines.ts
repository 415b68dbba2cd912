import type { samplesMetrics } from '../metrics/catalogue.ts';
import type { DuplexTimingSources } from '../metrics/duplex-timing.ts';
import type { RunSummary } from '../metrics/summary.ts';
import { reportWidth, titleLine, valueLine } from './report-lines.ts';

/** Latencies of the responses of full-duplex sessions, who timed them, and how well the input kept its pace. */
export function duplexLines(title: string, summary: RunSummary): string[] {
  const { duplexTiming, run } = summary;
  if (duplexTiming === null) return [];
  const lines = [
    ...(duplexTiming.byServer > 0
      ? [
          ...latencyLines('duplex_response_ttft', `${timedBy(duplexTiming)} TTFT`, summary),
          ...latencyLines('duplex_response_ttfp', `${timedBy(duplexTiming)} TTFP`, summary),
        ]
      : []),
    ...latencyLines('duplex_client_ttft', 'client TTFT', summary),
    ...latencyLines('duplex_client_ttfp', 'client TTFP', summary),
    ...sourceLines(duplexTiming),
    ...[
      ['Mean input pacing lag (ms):', run.input_pacing_mean_lag] as const,
      ['Max input pacing lag (ms):', run.input_pacing_max_lag] as const,
    ].flatMap(([label, value]) => (value === null ? [] : [valueLine(label, value, 'fixed')])),
  ];
  return lines.length === 0 ? [] : [titleLine(title, '='), ...lines, '='.repeat(reportWidth)];
}

/** Where some responses were timed by one and some by the other, their figures stand in one sample. */
function timedBy({ byClient }: DuplexTimingSources): string {
  return byClient === 0 ? 'server' : 'server/client';
}

function latencyLines(
  key: keyof typeof samplesMetrics,
  label: string,
  { distributions }: RunSummary,
): string[] {
  const { count, mean, median, percentiles } = distributions[key];
  if (count === 0) return [];
  const p99 = percentiles.find(([p]) => p === 99)?.[1] ?? null;
  return [
    valueLine(`Mean ${label} (ms):`, mean, 'fixed'),
    valueLine(`Median ${label} (ms):`, median, 'fixed'),
    valueLine(`P99 ${label} (ms):`, p99, 'fixed'),
  ];
}

function sourceLines({ byServer, byClient }: DuplexTimingSources): string[] {
  if (byServer + byClient === 0) return [];
  return [
    valueLine('Responses timed by the server:', byServer, 'integer'),
    valueLine('Responses timed by the client alone:', byClient, 'integer'),
  ];
}
