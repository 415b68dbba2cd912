import { requestMetrics } from '../../metrics/catalogue.ts';
import { keysOf } from '../../metrics/record-of.ts';
import type { RequestRow, RunSummary } from '../../metrics/summary.ts';
import { finiteOrNull, keyWithUnit } from '../result-entries.ts';

/** A value of a flat table of requests. `null` = not observed. */
export type ColumnValue = string | number | boolean | null;

/** A column of the table that CSV, JSONL and Parquet share. */
export type RequestColumn = {
  readonly name: string;
  readonly type: 'text' | 'integer' | 'number' | 'boolean';
  of(row: RequestRow, summary: RunSummary): ColumnValue;
};

/** A time of the run's clock as ms after the run's start. */
function sinceStart(timeMs: number | null | undefined, { facts }: RunSummary): number | null {
  return timeMs === null || timeMs === undefined || facts.startMs === null ? null : timeMs - facts.startMs;
}

const own: readonly RequestColumn[] = [
  { name: 'index', type: 'integer', of: ({ record }) => record.index },
  { name: 'request_id', type: 'text', of: ({ record }) => record.requestId },
  { name: 'endpoint', type: 'text', of: ({ record }) => record.endpoint },
  { name: 'model', type: 'text', of: ({ record }) => record.model },
  { name: 'ok', type: 'boolean', of: ({ record }) => record.outcome.ok },
  {
    name: 'failure_kind',
    type: 'text',
    of: ({ record: { outcome } }) => (outcome.ok ? null : outcome.kind),
  },
  {
    name: 'status',
    type: 'integer',
    of: ({ record }) => record.attempts.at(-1)?.exchanges.at(-1)?.status ?? null,
  },
  { name: 'error', type: 'text', of: ({ record: { outcome } }) => (outcome.ok ? null : outcome.message) },
  { name: 'attempts', type: 'integer', of: ({ record }) => record.attempts.length },
  {
    name: 'intended_ms',
    type: 'number',
    of: ({ record }, summary) => sinceStart(record.intendedMs, summary),
  },
  {
    name: 'admitted_ms',
    type: 'number',
    of: ({ record }, summary) => sinceStart(record.admittedMs, summary),
  },
  {
    name: 'send_ms',
    type: 'number',
    of: ({ record }, summary) => sinceStart(record.attempts.at(-1)?.sendMs, summary),
  },
  {
    name: 'end_ms',
    type: 'number',
    of: ({ record }, summary) => sinceStart(record.attempts.at(-1)?.endMs, summary),
  },
  { name: 'input_tokens', type: 'integer', of: ({ inputTokens }) => inputTokens },
  { name: 'output_tokens', type: 'integer', of: ({ record }) => record.outputTokens },
  { name: 'output_tokens_source', type: 'text', of: ({ record }) => record.outputTokensSource },
  { name: 'images', type: 'integer', of: ({ record }) => record.image?.count ?? null },
  { name: 'audio_frames', type: 'integer', of: ({ record }) => record.audio?.frames ?? null },
  { name: 'video_duration_s', type: 'number', of: ({ record }) => record.video?.durationS ?? null },
];

/** What happened to each request, then every metric of the catalogue under its key; times in ms after the run's start. */
export const requestColumns: readonly RequestColumn[] = [
  ...own,
  ...keysOf(requestMetrics).map(
    (key): RequestColumn => ({
      name: keyWithUnit(requestMetrics[key]),
      type: 'number',
      of: ({ values }) => finiteOrNull(values[key]),
    }),
  ),
];

/** The text of the reply, last: it is long. */
export const textColumn: RequestColumn = { name: 'text', type: 'text', of: ({ record }) => record.text };
