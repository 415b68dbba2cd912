import { nearestRank, roundTo } from '../foundation/nearest-rank.ts';
import { mean } from '../foundation/statistics.ts';
import type { DuplexRequestRow, DuplexSessionFacts, DuplexStageZero } from './duplex-session.ts';

type Json = Record<string, unknown>;

/** The session's rows as result files spell them: one entry of `duplex_request_metrics` for each. */
export function duplexRequestMetricsJson(
  session: Pick<DuplexSessionFacts, 'sessionId' | 'requestRows'>,
): Json[] {
  return session.requestRows.map((row) => rowJson(session.sessionId, row));
}

/** The session's figures as result files spell them: `duplex_session_metrics`. */
export function duplexSessionMetricsJson({
  sessionId,
  metrics,
}: Pick<DuplexSessionFacts, 'sessionId' | 'metrics'>): Json {
  const { stream } = metrics;
  return {
    session_id: sessionId,
    audio_turn_count: metrics.audioTurnCount,
    ttft_ms: metrics.ttftMs,
    ttfp_ms: metrics.ttfpMs,
    rtf: metrics.rtf,
    ...(metrics.tpotMs === null ? {} : { tpot_ms: metrics.tpotMs }),
    ...(metrics.clientTtftMs === null ? {} : { client_ttft_ms: metrics.clientTtftMs }),
    ...(metrics.clientTtfpMs === null ? {} : { client_ttfp_ms: metrics.clientTtfpMs }),
    ...(stream === null
      ? {}
      : {
          stream_ttft_ms: stream.ttftMs,
          stream_ttfp_ms: stream.ttfpMs,
          stream_rtf: stream.rtf,
          stream_audio_generation_ms: stream.audioGenerationMs,
          stream_audio_duration_ms: stream.audioDurationMs,
          stream_measurement_origin: stream.origins,
        }),
  };
}

function rowJson(sessionId: string, row: DuplexRequestRow): Json {
  const { timings, stageZero } = row;
  const json: Json = { session_id: sessionId, request_index: row.requestIndex, response_id: row.responseId };
  if (timings !== null) {
    const serverTimed = timings.source === 'server_request_start_and_client_receive';
    Object.assign(json, {
      source: timings.source,
      measurement_origin: timings.origins,
      ttft_ms: timings.ttftMs,
      ttfp_ms: timings.ttfpMs,
      audio_generation_ms: timings.audioGenerationMs,
      audio_duration_ms: timings.audioDurationMs,
      // Beside the server's figures stand the client's, under names that say what they are.
      ...(serverTimed
        ? {
            response_created_to_first_text_ms: timings.clientTtftMs,
            response_created_to_first_audio_ms: timings.clientTtfpMs,
          }
        : {}),
      ...(stageZero === null || stageZero.tpotMs === null ? {} : { tpot_ms: roundTo(stageZero.tpotMs, 3) }),
      rtf: timings.rtf,
      client_ttft_ms: timings.clientTtftMs,
      client_ttfp_ms: timings.clientTtfpMs,
    });
  }
  if (stageZero !== null) json.stage0_tokens = stageZeroJson(stageZero);
  if (Object.keys(row.stages).length > 0) json.stage_metrics = row.stages;
  return json;
}

function stageZeroJson(stage: DuplexStageZero): Json {
  return {
    source: 'engine_stage_metrics',
    output_token_count: stage.outputTokenCount,
    ttft_ms: stage.ttftMs,
    tpot_ms: stage.tpotMs,
    itls_ms: stage.itlsMs,
    inter_token_interval_ms: intervals(stage.itlsMs),
  };
}

/** @returns `null` where no gap was reported */
function intervals(gapsMs: readonly number[]): Json | null {
  const average = mean(gapsMs);
  if (average === null) return null;
  const sorted = [...gapsMs].sort((a, b) => a - b);
  return {
    count: sorted.length,
    mean: roundTo(average, 3),
    p50: nearestRank(sorted, 0.5),
    p95: nearestRank(sorted, 0.95),
    max: sorted.at(-1) ?? null,
  };
}
