/** Names that `--percentile-metrics` takes. */
export const percentileMetricNames: readonly string[] = [
  'ttft',
  'tpot',
  'tpop',
  'itl',
  'e2el',
  'ttfc',
  'tpoc',
  'icl',
  'audio_ttfp',
  'audio_rtf',
  'audio_duration',
  'audio_underrun',
  'client_queue_time',
  'e2el_including_client_queue',
];

/** Names that `--goodput` takes. */
export const goodputKeys: readonly string[] = [
  'ttft',
  'tpot',
  'e2el',
  'audio_ttfp',
  'audio_rtf',
  'audio_underrun',
];
