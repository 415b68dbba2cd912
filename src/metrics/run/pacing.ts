import type { RunMetric } from '../metric.ts';

const shared = {
  kind: 'run',
  unit: 'ms',
  modality: 'any',
  better: 'lower',
  source: 'omnimeter; per case in vLLM-Omni’s OmniInteract results',
} as const;

/** How late live input left on average. */
export const inputPacingMeanLag: RunMetric = {
  ...shared,
  key: 'input_pacing_mean_lag',
  label: 'Mean input pacing lag (ms)',
  title: 'Mean input pacing lag',
  doc: 'How late chunks of live input left this client, on average over all chunks of the successful sessions; each has an absolute time at which it is due. The client’s own error. `null` where no input was live.',
  of: (run) => run.pacingMeanLagMs,
};

/** How late live input left at worst. */
export const inputPacingMaxLag: RunMetric = {
  ...shared,
  key: 'input_pacing_max_lag',
  label: 'Max input pacing lag (ms)',
  title: 'Worst input pacing lag',
  doc: 'The worst of the same lags.',
  of: (run) => run.pacingMaxLagMs,
};
