import type { RequestMetric } from '../metric.ts';

/** Peak memory of the server. */
export const peakMemory: RequestMetric = {
  kind: 'request',
  key: 'peak_memory_mb',
  label: 'PEAK_MEMORY_MB',
  title: 'Peak Memory',
  unit: 'MB',
  modality: 'any',
  better: 'lower',
  selectedBy: [],
  objective: { unit: 'MB', aliases: [] },
  doc: 'Largest memory that the server reports with one request. Not observed where it reports none.',
  source: '`vllm bench serve --omni`; vLLM-Omni PR #5278',
  of: ({ record }) => {
    let peakMb = 0;
    for (const response of record.responses) peakMb = Math.max(peakMb, response.peakMemoryMb ?? 0);
    return peakMb > 0 ? peakMb : null;
  },
};
