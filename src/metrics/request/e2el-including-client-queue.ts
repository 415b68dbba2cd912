import type { RequestMetric } from '../metric.ts';

/** Response latency: counted from the time at which the schedule wanted the request sent. */
export const e2elIncludingClientQueue: RequestMetric = {
  kind: 'request',
  key: 'e2el_including_client_queue',
  label: 'E2EL incl. Client Queue',
  title: 'E2EL incl. Client Queue',
  unit: 'ms',
  modality: 'any',
  better: 'lower',
  selectedBy: ['e2el_including_client_queue'],
  objective: { unit: 'ms', aliases: [] },
  doc: 'From the time at which the schedule wanted a request sent to its end, so that load the server could not take shows as latency. Only with `--max-concurrency` and a finite rate; without a rate all requests are due at once.',
  source: 'vLLM PR #54136',
  of: ({ record, run, startMs, endMs }) => {
    const isPaced = run.requestRate !== null || run.rampUp !== null;
    if (run.maxConcurrency === null || !isPaced || record.intendedMs === null) return null;
    return endMs - Math.min(record.intendedMs, startMs);
  },
};
