import { z } from 'zod';

/** What a stage counts its output in: `stream` is an internal stream of tokens that no client sees. */
export const outputUnitTypes = ['text', 'stream', 'audio', 'image', 'video', 'latent', 'other'] as const;
export type OutputUnitType = (typeof outputUnitTypes)[number];

/**
 * What one pipeline stage did for one request. Clients must treat every field as optional; a time or count of 0
 * means that there is none (a text stage has no audio, an internal stage no native text timings).
 */
export const stageSnapshotSchema = z
  .looseObject({
    stage_id: z.number().int(),
    stage_name: z.string(),
    final_output_type: z.string().nullable(),
    finish_reason: z.string().nullable(),
    /** Prompt length; stage 0 only. */
    num_tokens_in: z.number().int(),
    num_tokens_out: z.number().int(),
    /** Submit to this stage until the stage finished; includes waiting for the stage before it. */
    stage_gen_time_ms: z.number(),
    /** Conversion of this stage's output for the next stage. */
    postprocess_time_ms: z.number(),
    /** PCM samples per channel, in spite of the name. */
    audio_frames: z.number().int(),
    audio_sample_rate: z.number().int(),
    audio_duration_s: z.number(),
    /** stage_gen_time over audio duration. */
    audio_rtf: z.number(),
    image_pixels: z.number().int(),
    denoise_step_latency_ms: z.number(),
    output_unit_type: z.enum(outputUnitTypes),
    /** Text and stream: tokens; audio: samples; image: images; video: videos. */
    output_unit_count: z.number().int(),
    /** HTTP request accepted until the first non-empty output of this stage. */
    serving_time_to_first_output_ms: z.number(),
    image_time_to_first_output_ms: z.number(),
    /** (finish − first output)/(count − 1), text and stream with more than one unit. */
    time_per_output_unit_ms: z.number(),
    /** Mean of the gaps below. */
    inter_output_latency_ms: z.number(),
    inter_output_latencies_ms: z.array(z.number()),
    /** Text stage: its own first-token time, counted from its submit. */
    vllm_ttft_ms: z.number(),
    vllm_tpot_ms: z.number(),
    vllm_itl_ms: z.number(),
    vllm_itls_ms: z.array(z.number()),
  })
  .partial();
export type StageSnapshot = z.infer<typeof stageSnapshotSchema>;

/** Snapshots by stage id as a decimal string; a chunk may carry only the stages that are new. */
export const stageMetricsSchema = z.record(z.string(), stageSnapshotSchema);
export type StageMetrics = z.infer<typeof stageMetricsSchema>;

/** `metrics` of a reply or chunk; present only when `return_stage_metrics` was asked for. */
export const replyMetricsSchema = z.looseObject({
  num_tokens_in: z.number().int().optional(),
  num_tokens_out: z.number().int().optional(),
  stage_id: z.number().int().optional(),
  final_output_type: z.string().nullish(),
  stage_metrics: stageMetricsSchema.optional(),
});
export type ReplyMetrics = z.infer<typeof replyMetricsSchema>;
