import type { DuplexSessionFacts } from '../../records/duplex-session.ts';
import { duplexRequestMetricsJson, duplexSessionMetricsJson } from '../../records/duplex-session-json.ts';
import type { RequestRecord } from '../../records/request-record.ts';
import type { OmniInteractCase } from '../../workloads/omniinteract/omniinteract-case.ts';

/** What `result.json` says of a case, in its order of keys. */
export type CaseResult = {
  readonly subset: string;
  readonly video: string;
  readonly output_dir: string;
  readonly success: boolean;
  readonly error: string | null;
  readonly session_id: string | null;
  readonly latency_s: number | null;
  readonly input_audio_chunks: number;
  readonly input_video_frames: number;
  readonly pacing_mean_lag_s: number | null;
  readonly pacing_max_lag_s: number | null;
  readonly responses: number;
  readonly audio_bytes: number;
  readonly audio_clipped_bytes: number;
  readonly transcript: string;
  readonly eligible_for_official_eval: boolean;
  readonly official_eval_ineligible_reasons: readonly string[];
  readonly artifact_warnings: readonly string[];
  readonly output_tokens: number | null;
  readonly duplex_request_metrics: readonly unknown[];
  readonly duplex_session_metrics: unknown;
};

/** What comes of a case, before anything is written. */
export function caseResultOf(one: OmniInteractCase, record: RequestRecord, outputDir: string): CaseResult {
  const { outcome, duplex } = record;
  const failed = outcome.ok ? [] : ['case_failed'];
  const reasons = [...new Set([...failed, ...(duplex?.ineligibleReasons ?? [])])];
  return {
    subset: one.subset,
    video: one.videoRel,
    output_dir: outputDir,
    success: outcome.ok,
    error: outcome.ok ? null : outcome.message,
    session_id: duplex?.sessionId ?? null,
    ...observed(duplex),
    transcript: duplex?.transcript ?? '',
    eligible_for_official_eval: reasons.length === 0,
    official_eval_ineligible_reasons: reasons,
    artifact_warnings: duplex?.warnings ?? [],
    output_tokens: duplex?.outputTokens ?? null,
    duplex_request_metrics: duplex === null ? [] : duplexRequestMetricsJson(duplex),
    duplex_session_metrics: duplex === null ? null : duplexSessionMetricsJson(duplex),
  };
}

function observed(duplex: DuplexSessionFacts | null) {
  const seconds = (ms: number | null): number | null => (ms === null ? null : ms / 1000);
  return {
    latency_s: duplex?.latencyS ?? null,
    input_audio_chunks: duplex?.inputAudioChunks ?? 0,
    input_video_frames: duplex?.inputVideoFrames ?? 0,
    pacing_mean_lag_s: seconds(duplex?.pacingMeanLagMs ?? null),
    pacing_max_lag_s: seconds(duplex?.pacingMaxLagMs ?? null),
    responses: duplex?.responseCount ?? 0,
    audio_bytes: duplex?.audioBytes ?? 0,
    audio_clipped_bytes: duplex?.audioClippedBytes ?? 0,
  };
}

/** The same case after its files could not be written: its measurements hold, its artifacts do not count. */
export function unwrittenResult(result: CaseResult, error: string): CaseResult {
  return {
    ...result,
    error: result.error === null ? error : `${result.error}; ${error}`,
    eligible_for_official_eval: false,
    official_eval_ineligible_reasons: [...result.official_eval_ineligible_reasons, 'artifact_write_failed'],
  };
}

/** `1qna` as the official scripts spell it; other scenes are as they are. */
export function officialScene(sceneType: string): string {
  return sceneType === '1qna' ? '1QnA' : sceneType;
}

/** `wav_transcript.json`. */
export function transcriptOf({ transcript, transcriptChunks }: DuplexSessionFacts): unknown {
  return {
    text: transcript,
    chunks: transcriptChunks.map(({ responseId, text, timestampS }) => ({
      response_id: responseId,
      text,
      timestamp: timestampS,
    })),
    timestamp_semantics: 'serialized playback queue time relative to input streaming start',
  };
}
