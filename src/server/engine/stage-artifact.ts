import type { PcmAudio } from './pcm-audio.ts';

/** A finished file, where an engine makes one itself; a simulated engine leaves that to the API. */
export type EncodedMedia = { readonly bytes: Buffer; readonly mimeType: string };

/** One image, for the API to draw and encode. Equal descriptors give equal pictures. */
export type ImageDescriptor = {
  readonly widthPx: number;
  readonly heightPx: number;
  /** What the picture is drawn from: the request's seed, one further for each further image. */
  readonly seed: number;
  /** `null` = to be drawn. */
  readonly encoded: EncodedMedia | null;
};

/** What a diffusion stage can say of its work. */
export type DiffusionFacts = {
  readonly numInferenceSteps: number;
  /** Time in the transformer, ms. */
  readonly forwardMs: number;
  /** Waiting for the scheduler to select it, ms. */
  readonly queueWaitMs: number;
  readonly peakMemoryMb: number;
  /** The profiler's times by its own names, **seconds**, e.g. `QwenImagePipeline.diffuse`. */
  readonly profileS: Readonly<Record<string, number>>;
};

/** All images of a request; never empty. */
export type ImagesArtifact = {
  readonly kind: 'images';
  readonly images: readonly ImageDescriptor[];
  readonly facts: DiffusionFacts;
};

/** A video, for the API to draw and encode. */
export type VideoArtifact = {
  readonly kind: 'video';
  readonly widthPx: number;
  readonly heightPx: number;
  readonly numFrames: number;
  /** May be fractional. The duration is `numFrames / fps`. */
  readonly fps: number;
  readonly seed: number;
  /** Its sound; `null` = silent. */
  readonly audio: PcmAudio | null;
  readonly encoded: EncodedMedia | null;
  readonly facts: DiffusionFacts;
};

/** A vector of length 1. */
export type EmbeddingArtifact = { readonly kind: 'embedding'; readonly values: Float32Array };

/** Relevance, 0 to 1. */
export type ScoreArtifact = { readonly kind: 'score'; readonly score: number };

/** What a stage makes other than text and sound. It comes whole, with the stage's last output. */
export type StageArtifact = ImagesArtifact | VideoArtifact | EmbeddingArtifact | ScoreArtifact;
