import { realtimeAudio } from '../../protocol/realtime-events.ts';
import type { StageMetrics } from '../../protocol/stage-metrics.ts';
import type { PlannedChunk, ResponsePlan } from './response-plan.ts';

/** Tokens of the speech stage in a second of sound. */
const speechTokensPerS = 25;

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/**
 * What the stages of a response did up to a chunk: cumulative, so that a later snapshot replaces an earlier.
 * @param names of the stages: language, speech tokens, vocoder
 */
export function stageSnapshots(
  { firstTokenMs, tokenGapsMs }: Pick<ResponsePlan, 'firstTokenMs' | 'tokenGapsMs'>,
  { tokens, audioMs, atMs, samples }: PlannedChunk,
  names: readonly string[],
): StageMetrics {
  const gaps = tokenGapsMs.slice(0, Math.max(0, tokens - 1)).map(rounded);
  const mean = gaps.length === 0 ? 0 : gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  const language = {
    stage_id: 0,
    stage_name: names[0] ?? 'thinker',
    final_output_type: 'text',
    num_tokens_out: tokens,
    output_unit_type: 'text' as const,
    output_unit_count: tokens,
    vllm_ttft_ms: rounded(firstTokenMs),
    vllm_tpot_ms: rounded(mean),
    vllm_itls_ms: gaps,
  };
  if (samples === 0) return { 0: language };
  const speechTokens = Math.ceil((audioMs * speechTokensPerS) / 1000);
  return {
    0: language,
    1: {
      stage_id: 1,
      stage_name: names[1] ?? 'talker',
      final_output_type: null,
      num_tokens_out: speechTokens,
      output_unit_type: 'stream',
      output_unit_count: speechTokens,
    },
    2: {
      stage_id: 2,
      stage_name: names[2] ?? 'token2wav',
      final_output_type: 'audio',
      num_tokens_out: 0,
      output_unit_type: 'audio',
      output_unit_count: Math.round((audioMs * realtimeAudio.outputRateHz) / 1000),
      audio_frames: Math.round((audioMs * realtimeAudio.outputRateHz) / 1000),
      audio_sample_rate: realtimeAudio.outputRateHz,
      audio_duration_s: audioMs / 1000,
      audio_rtf: audioMs === 0 ? 0 : Math.round((atMs / audioMs) * 1e6) / 1e6,
    },
  };
}
