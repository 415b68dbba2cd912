import { nearestRank, roundTo } from '../foundation/nearest-rank.ts';
import { mean, sortedCopy } from '../foundation/statistics.ts';
import type { RequestMetricKey, SamplesMetricKey } from '../metrics/catalogue.ts';
import { duplexRequestMetricsJson, duplexSessionMetricsJson } from '../records/duplex-session-json.ts';
import { type Entry, type EntrySource, finiteOrNull, statistics } from './result-entries.ts';

const perResponse: readonly SamplesMetricKey[] = [
  'duplex_response_ttft',
  'duplex_response_ttfp',
  'duplex_client_ttft',
  'duplex_client_ttfp',
];

/** Keys that the original has for sessions of many responses; none where the run had no such session. */
export const duplexMetrics: EntrySource = (context) => {
  const { summary } = context;
  if (summary.duplexTiming === null) return [];
  const sessions = context.rows().flatMap(({ record }) => record.duplex ?? []);
  return [
    ['duplex_request_metrics', sessions.flatMap(duplexRequestMetricsJson)],
    ['duplex_session_metrics', sessions.map(duplexSessionMetricsJson)],
    ...streamStatistic('duplex_stream_ttft_ms', 'duplex_stream_ttft', context),
    ...streamStatistic('duplex_stream_ttfp_ms', 'duplex_stream_ttfp', context),
    ...streamStatistic('duplex_stream_rtf', 'duplex_stream_rtf', context),
    ...perResponse.flatMap((key): readonly Entry[] => [
      [`num_${key}_ms_samples`, summary.distributions[key].count],
      ...statistics(key)(context),
    ]),
    ['input_pacing_mean_lag_ms', finiteOrNull(summary.run.input_pacing_mean_lag)],
    ['input_pacing_max_lag_ms', finiteOrNull(summary.run.input_pacing_max_lag)],
    ['duplex_responses_timed_by_server', summary.duplexTiming.byServer],
    ['duplex_responses_timed_by_client', summary.duplexTiming.byClient],
  ];
};

/** Over sessions, percentiles by nearest rank as the sessions' own figures have them. */
function streamStatistic(
  key: string,
  metric: RequestMetricKey,
  { rows }: Parameters<EntrySource>[0],
): readonly Entry[] {
  const values = rows().flatMap(({ values }) => {
    const value = finiteOrNull(values[metric]);
    return value === null || value < 0 ? [] : [value];
  });
  const average = mean(values);
  if (average === null) return [];
  const sorted = sortedCopy(values);
  const decimals = metric === 'duplex_stream_rtf' ? 6 : 3;
  const rounded = (value: number | null): number | null => (value === null ? null : roundTo(value, decimals));
  const statistic = {
    count: values.length,
    mean: rounded(average),
    p50: rounded(nearestRank(sorted, 0.5)),
    p99: rounded(nearestRank(sorted, 0.99)),
  };
  return [[key, statistic]];
}

/** What the dataset made of the finished run. */
export const datasetResults: EntrySource = ({ summary: { facts } }) => Object.entries(facts.datasetResults);

/** Requests that an earlier run of the same command had finished: how many, and in detail which. */
export const keptRequests: EntrySource = ({ summary: { run }, detailed, rows }) => {
  if ((run.kept_requests ?? 0) === 0) return [];
  const marks: readonly Entry[] = detailed
    ? [['kept', rows().map(({ record }) => record.kept === true)]]
    : [];
  return [['kept_requests', run.kept_requests], ...marks];
};
