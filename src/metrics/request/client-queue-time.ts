import type { RequestMetric } from '../metric.ts';

/** Waiting in the client for a concurrency slot. */
export const clientQueueTime: RequestMetric = {
  kind: 'request',
  key: 'client_queue_time',
  label: 'Client Queue Time',
  title: 'Client Queue Time',
  unit: 'ms',
  modality: 'any',
  better: 'lower',
  selectedBy: ['client_queue_time'],
  objective: { unit: 'ms', aliases: [] },
  doc: 'From the time at which the schedule wanted a request sent to the time at which it was first sent. Only with `--max-concurrency`.',
  source: 'vLLM PR #54136',
  of: ({ record, run }) => {
    const sentMs = record.attempts[0]?.sendMs;
    if (run.maxConcurrency === null || record.intendedMs === null || sentMs === undefined) return null;
    return Math.max(sentMs - record.intendedMs, 0);
  },
};
