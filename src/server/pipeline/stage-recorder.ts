import { mean } from '../../foundation/statistics.ts';
import type { StageSnapshot } from '../../protocol/stage-metrics.ts';
import type { DiffusionFacts, StageArtifact } from '../engine/stage-artifact.ts';
import type { StageOutput } from '../engine/stage-engine.ts';
import type { StageDefinition } from './pipeline-definition.ts';

/** ms with µs resolution: enough for any reader, and half the digits of a double. */
export function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/**
 * Collects what one stage does for one request. All times are really elapsed ones on one clock, whose zero for
 * `serving_…` is the moment at which the HTTP request was accepted.
 */
export class StageRecorder {
  readonly #stage: StageDefinition;
  readonly #acceptedMs: number;
  readonly #promptTokens: number;
  /** `null` = nobody asked for the gaps. */
  readonly #gapsMs: number[] | null;
  #submittedMs = 0;
  #firstMs: number | null = null;
  #lastMs = 0;
  #finishedMs: number | null = null;
  #finishReason: string | null = null;
  #units = 0;
  #samples = 0;
  #sampleRateHz = 0;
  #postprocessMs = 0;
  #pixels = 0;
  #diffusion: DiffusionFacts | null = null;

  constructor(stage: StageDefinition, acceptedMs: number, promptTokens: number, keepGaps: boolean) {
    this.#stage = stage;
    this.#acceptedMs = acceptedMs;
    this.#promptTokens = promptTokens;
    this.#gapsMs = keepGaps ? [] : null;
  }

  /** @param atMs when the stage was told of the request */
  submitted(atMs: number): void {
    this.#submittedMs = atMs;
  }

  /** From accept until the stage was told of the request, ms. */
  get preprocessMs(): number {
    return rounded(Math.max(0, this.#submittedMs - this.#acceptedMs));
  }

  output(output: StageOutput, nowMs: number): void {
    if (output.units > 0) {
      if (this.#firstMs === null) this.#firstMs = nowMs;
      else this.#gapsMs?.push(nowMs - this.#lastMs);
      this.#lastMs = nowMs;
      this.#units += output.units;
    }
    if (output.audio !== null) {
      this.#samples += output.audio.samples;
      this.#sampleRateHz = output.audio.sampleRateHz;
    }
    if (output.artifact !== null) this.#artifact(output.artifact);
    if (output.finishReason !== null) {
      this.#finishedMs = nowMs;
      this.#finishReason = output.finishReason;
    }
  }

  #artifact(artifact: StageArtifact): void {
    if (artifact.kind === 'images') {
      for (const { widthPx, heightPx } of artifact.images) this.#pixels += widthPx * heightPx;
      this.#diffusion = artifact.facts;
    }
    if (artifact.kind === 'video') this.#diffusion = artifact.facts;
  }

  /** What a diffusion stage said of its work; `null` before it has, and for other stages. */
  get diffusion(): DiffusionFacts | null {
    return this.#diffusion;
  }

  /** Adds the time taken to make and hand over the next stage's input. */
  postprocessed(ms: number): void {
    this.#postprocessMs += ms;
  }

  get finished(): boolean {
    return this.#finishedMs !== null;
  }

  /** Tokens so far; 0 for a stage that counts in something else. */
  get tokensOut(): number {
    return this.#stage.executionType === 'LLM_AR' ? this.#units : 0;
  }

  /** Submit until finish, ms; `null` while the stage is at work. */
  get generationMs(): number | null {
    return this.#finishedMs === null ? null : rounded(this.#finishedMs - this.#submittedMs);
  }

  #denoiseStepMs(): number {
    if (this.#diffusion === null || this.#diffusion.numInferenceSteps <= 0) return 0;
    return this.#diffusion.forwardMs / this.#diffusion.numInferenceSteps;
  }

  snapshot(): StageSnapshot {
    const endMs = this.#finishedMs ?? this.#lastMs;
    const genMs = Math.max(0, endMs - this.#submittedMs);
    const isText = this.#stage.finalOutputType === 'text';
    const countsTokens = this.#stage.executionType === 'LLM_AR';
    const gapsMs = (this.#gapsMs ?? []).map(rounded);
    const perUnitMs =
      countsTokens && this.#firstMs !== null && this.#units > 1
        ? (endMs - this.#firstMs) / (this.#units - 1)
        : 0;
    const durationS = this.#sampleRateHz > 0 ? this.#samples / this.#sampleRateHz : 0;
    return {
      stage_id: this.#stage.stageId,
      stage_name: this.#stage.name,
      final_output_type: this.#stage.finalOutputType,
      finish_reason: this.#finishReason,
      num_tokens_in: this.#stage.stageId === 0 ? this.#promptTokens : 0,
      num_tokens_out: this.tokensOut,
      stage_gen_time_ms: rounded(genMs),
      postprocess_time_ms: rounded(this.#postprocessMs),
      audio_frames: this.#samples,
      audio_sample_rate: this.#sampleRateHz,
      audio_duration_s: durationS,
      audio_rtf: durationS > 0 ? genMs / 1000 / durationS : 0,
      image_pixels: this.#pixels,
      denoise_step_latency_ms: rounded(this.#denoiseStepMs()),
      ...(this.#diffusion === null ? {} : { num_inference_steps: this.#diffusion.numInferenceSteps }),
      output_unit_type: this.#stage.outputUnitType,
      output_unit_count: this.#units,
      serving_time_to_first_output_ms: this.#firstMs === null ? 0 : rounded(this.#firstMs - this.#acceptedMs),
      image_time_to_first_output_ms:
        this.#stage.outputUnitType === 'image' && this.#firstMs !== null
          ? rounded(this.#firstMs - this.#submittedMs)
          : 0,
      time_per_output_unit_ms: rounded(perUnitMs),
      inter_output_latency_ms: rounded(mean(gapsMs) ?? 0),
      inter_output_latencies_ms: gapsMs,
      vllm_ttft_ms: isText && this.#firstMs !== null ? rounded(this.#firstMs - this.#submittedMs) : 0,
      vllm_tpot_ms: isText ? rounded(perUnitMs) : 0,
      vllm_itl_ms: isText ? rounded(mean(gapsMs) ?? 0) : 0,
      vllm_itls_ms: isText ? gapsMs : [],
    };
  }
}
