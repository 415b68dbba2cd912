import type { RequestMetric, RunMetric, SamplesMetric, StageMetric } from './metric.ts';
import { audioDuration } from './request/audio-duration.ts';
import { audioRtf } from './request/audio-rtf.ts';
import { audioTtfp } from './request/audio-ttfp.ts';
import { audioUnderrun } from './request/audio-underrun.ts';
import { clientQueueTime } from './request/client-queue-time.ts';
import {
  duplexClientTtfp,
  duplexClientTtft,
  duplexResponseTtfp,
  duplexResponseTtft,
} from './request/duplex-response.ts';
import { duplexStreamRtf, duplexStreamTtfp, duplexStreamTtft } from './request/duplex-stream.ts';
import { e2el } from './request/e2el.ts';
import { e2elIncludingClientQueue } from './request/e2el-including-client-queue.ts';
import { denoiseStepLatency, imageGeneration } from './request/image-generation.ts';
import { itl } from './request/itl.ts';
import { itlPerToken } from './request/itl-per-token.ts';
import { peakMemory } from './request/peak-memory.ts';
import { timeToFirstContent } from './request/time-to-first-content.ts';
import { tpot } from './request/tpot.ts';
import { ttft } from './request/ttft.ts';
import { videoGeneration, videoRtf } from './request/video.ts';
import {
  audioContinuityOkRate,
  audioThroughput,
  rtfx,
  totalAudioDurationS,
  totalAudioFrames,
} from './run/audio.ts';
import { averagePixelsPerImage, imageThroughput, totalImages } from './run/images.ts';
import { inputPacingMaxLag, inputPacingMeanLag } from './run/pacing.ts';
import {
  coalescedEvents,
  maxConcurrentRequests,
  maxConcurrentRequestsExact,
  maxOutputTokensPerS,
  peakOutputTokensPerSExact,
} from './run/peaks.ts';
import {
  aborted,
  completed,
  duration,
  failed,
  keptRequests,
  requestGoodput,
  requestThroughput,
} from './run/requests.ts';
import { outputThroughput, totalInputTokens, totalOutputTokens, totalTokenThroughput } from './run/tokens.ts';
import { totalVideoDurationS, totalVideoFrames, videoThroughput } from './run/videos.ts';
import { stageAudioDuration, stageAudioFrames, stageAudioRtf } from './stage/audio-stage.ts';
import { stageImages } from './stage/image-stage.ts';
import { servingAudioTtfp, servingTtfc, servingTtft } from './stage/serving-first-output.ts';
import { stageGenTime, stagePostprocess } from './stage/stage-times.ts';
import { stageIcl, stageTpop } from './stage/stream-stage.ts';
import { stageItl, stageTokens, stageTpot, stageTtft } from './stage/text-stage.ts';

// The catalogue. A metric is one entry in a file of its own and one line here; allowed names, objectives and the
// documentation follow from it, and the report's layouts refer to its keys.

export const requestMetrics = {
  ttft,
  tpot,
  e2el,
  audio_ttfp: audioTtfp,
  audio_rtf: audioRtf,
  audio_duration: audioDuration,
  audio_underrun: audioUnderrun,
  client_queue_time: clientQueueTime,
  e2el_including_client_queue: e2elIncludingClientQueue,
  time_to_first_content: timeToFirstContent,
  image_generation: imageGeneration,
  denoise_step_latency: denoiseStepLatency,
  video_rtf: videoRtf,
  video_generation: videoGeneration,
  peak_memory_mb: peakMemory,
  duplex_stream_ttft: duplexStreamTtft,
  duplex_stream_ttfp: duplexStreamTtfp,
  duplex_stream_rtf: duplexStreamRtf,
} satisfies Record<string, RequestMetric>;
export type RequestMetricKey = keyof typeof requestMetrics;

export const samplesMetrics = {
  itl,
  itl_per_token: itlPerToken,
  duplex_response_ttft: duplexResponseTtft,
  duplex_response_ttfp: duplexResponseTtfp,
  duplex_client_ttft: duplexClientTtft,
  duplex_client_ttfp: duplexClientTtfp,
} satisfies Record<string, SamplesMetric>;
export type SamplesMetricKey = keyof typeof samplesMetrics;

/** Metrics that a report states as a distribution. */
export type DistributionKey = RequestMetricKey | SamplesMetricKey;

export const runMetrics = {
  completed,
  failed,
  aborted,
  duration,
  request_throughput: requestThroughput,
  request_goodput: requestGoodput,
  total_input_tokens: totalInputTokens,
  total_output_tokens: totalOutputTokens,
  output_throughput: outputThroughput,
  total_token_throughput: totalTokenThroughput,
  max_output_tokens_per_s: maxOutputTokensPerS,
  peak_output_tokens_per_s_exact: peakOutputTokensPerSExact,
  max_concurrent_requests: maxConcurrentRequests,
  max_concurrent_requests_exact: maxConcurrentRequestsExact,
  total_audio_duration_s: totalAudioDurationS,
  total_audio_frames: totalAudioFrames,
  audio_throughput: audioThroughput,
  audio_continuity_ok_rate: audioContinuityOkRate,
  rtfx,
  total_images: totalImages,
  image_throughput: imageThroughput,
  average_pixels_per_image: averagePixelsPerImage,
  total_video_duration_s: totalVideoDurationS,
  total_video_frames: totalVideoFrames,
  video_throughput: videoThroughput,
  client_coalesced_events: coalescedEvents,
  kept_requests: keptRequests,
  input_pacing_mean_lag: inputPacingMeanLag,
  input_pacing_max_lag: inputPacingMaxLag,
} satisfies Record<string, RunMetric>;
export type RunMetricKey = keyof typeof runMetrics;

export const stageMetrics = {
  stage_gen_time: stageGenTime,
  postprocess: stagePostprocess,
  stage_tokens: stageTokens,
  serving_ttft: servingTtft,
  stage_ttft: stageTtft,
  stage_tpot: stageTpot,
  stage_itl: stageItl,
  serving_ttfc: servingTtfc,
  stage_tpop: stageTpop,
  stage_icl: stageIcl,
  serving_audio_ttfp: servingAudioTtfp,
  stage_audio_rtf: stageAudioRtf,
  stage_audio_duration: stageAudioDuration,
  stage_audio_frames: stageAudioFrames,
  stage_images: stageImages,
} satisfies Record<string, StageMetric>;
export type StageMetricKey = keyof typeof stageMetrics;

/** The catalogue entry behind a distribution. */
export function distributionMetric(key: DistributionKey): RequestMetric | SamplesMetric {
  return { ...requestMetrics, ...samplesMetrics }[key];
}
