import type { VideoFacts } from '../records/request-record.ts';
import { type JsonObject, positiveNumber } from './json-values.ts';
import { generationMsOf } from './reply-facts.ts';

/** Figures of the request that stand in where the job says nothing of its video. */
export type RequestedVideo = {
  readonly seconds: number | null;
  readonly frames: number | null;
  readonly fps: number | null;
};

export function requestedVideo(fields: JsonObject): RequestedVideo {
  return {
    seconds: positiveNumber(fields.seconds),
    frames: positiveNumber(fields.num_frames),
    fps: positiveNumber(fields.fps),
  };
}

/**
 * What a finished job says of its video, else what was asked for. Frame rates may be fractions. The generation time is
 * the server's own, so that a real-time factor made from it does not depend on how often the job was polled
 * (vLLM-Omni PR #4728).
 */
export function videoFactsOf(job: JsonObject, asked: RequestedVideo): VideoFacts {
  const fps = positiveNumber(job.fps);
  const frames = framesOf(job);
  const length = positiveNumber(job.duration_s);
  const inferenceS = positiveNumber(job.inference_time_s);
  return {
    durationS: length ?? quotient(frames, fps) ?? asked.seconds ?? quotient(asked.frames, asked.fps),
    frames:
      frames ?? rounded(product(length, fps)) ?? asked.frames ?? rounded(product(asked.seconds, asked.fps)),
    generationMs: generationMsOf(job.stage_durations) ?? (inferenceS === null ? null : inferenceS * 1000),
  };
}

function framesOf(job: JsonObject): number | null {
  for (const value of [job.num_frames, job.video_frames, job.frames]) {
    const count = Array.isArray(value) ? value.length : positiveNumber(value);
    if (count !== null && count > 0) return count;
  }
  return null;
}

function quotient(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a / b;
}

function product(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a * b;
}

function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value);
}
