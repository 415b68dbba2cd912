import { keptRequests } from './duplex-result.ts';
import {
  aggregate,
  deviation,
  type EntrySource,
  listedStatistics,
  perRequest,
  perRequestMetric,
  statistics,
} from './result-entries.ts';
import { failures, queueStatistics, runFacts, selfMeasurement, stageReport } from './result-parts.ts';

/** What results of both kinds say beyond the original, after its keys. */
export const additions: readonly EntrySource[] = [
  failures,
  aggregate('aborted'),
  aggregate('max_concurrent_requests_exact'),
  aggregate('peak_output_tokens_per_s_exact'),
  statistics('itl_per_token'),
  statistics('time_to_first_content'),
  queueStatistics,
  runFacts,
  aggregate('client_coalesced_events'),
  keptRequests,
  selfMeasurement,
];

/** What results of `--omni` say besides. */
export const omniAdditions: readonly EntrySource[] = [
  aggregate('audio_continuity_ok_rate'),
  listedStatistics('image_generation'),
  deviation('image_generation'),
  deviation('video_rtf'),
  deviation('video_generation'),
  deviation('peak_memory_mb'),
  stageReport,
  perRequestMetric('e2els', 'e2el'),
  perRequestMetric('audio_ttfps', 'audio_ttfp'),
  perRequestMetric('audio_rtfs', 'audio_rtf'),
  perRequestMetric('audio_durations', 'audio_duration'),
  perRequestMetric('audio_underruns', 'audio_underrun'),
  perRequest('image_counts', ({ record: { outcome, image } }) => (outcome.ok ? (image?.count ?? 0) : 0)),
  perRequestMetric('video_rtfs', 'video_rtf'),
];
