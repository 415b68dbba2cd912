import type { Random } from '../../foundation/random.ts';
import type { DiffusionFacts, ImageDescriptor, StageArtifact } from './stage-artifact.ts';
import type { StageTask } from './stage-task.ts';

/** What a diffusion stage makes where a request does not say. */
export type DiffusionDefaults = {
  readonly widthPx: number;
  readonly heightPx: number;
  readonly numInferenceSteps: number;
  /** Of a video; 1 for images. */
  readonly numFrames: number;
  /** Frames per second of a video. */
  readonly fps: number;
};

/** A request to a diffusion stage, with all that it left open filled in. */
export type DiffusionPlan = {
  readonly output: 'image' | 'video';
  readonly widthPx: number;
  readonly heightPx: number;
  readonly numInferenceSteps: number;
  /** Images of the request, or frames of its video. */
  readonly pictures: number;
  readonly fps: number;
  readonly seed: number;
  /** Requests with equal keys can be denoised together. */
  readonly batchKey: string;
};

/** Seeds that a request does not name are drawn below this. */
const seedLimit = 2 ** 31;

/** Fills in what a task leaves open. */
export function planDiffusion(
  task: StageTask,
  output: 'image' | 'video',
  defaults: DiffusionDefaults,
  random: Random,
): DiffusionPlan {
  const asked = task.kind === 'image' || task.kind === 'video' ? task : null;
  const widthPx = asked?.widthPx ?? defaults.widthPx;
  const heightPx = asked?.heightPx ?? defaults.heightPx;
  const numFrames = (task.kind === 'video' ? task.numFrames : null) ?? defaults.numFrames;
  const count = task.kind === 'image' ? task.count : 1;
  const pictures = output === 'video' ? numFrames : count;
  const cfg = (asked?.trueCfgScale ?? asked?.guidanceScale ?? 1) > 1;
  return {
    output,
    widthPx,
    heightPx,
    numInferenceSteps: asked?.numInferenceSteps ?? defaults.numInferenceSteps,
    pictures,
    fps: (task.kind === 'video' ? task.fps : null) ?? defaults.fps,
    seed: asked?.seed ?? random.integer(0, seedLimit - 1),
    batchKey: `${widthPx}x${heightPx}x${pictures}${cfg ? '+cfg' : ''}`,
  };
}

/** Pixels of all pictures of a request. */
export function pixelsOf({ widthPx, heightPx, pictures }: DiffusionPlan): number {
  return widthPx * heightPx * pictures;
}

/** What comes of a plan. */
export function artifactOf(plan: DiffusionPlan, facts: DiffusionFacts): StageArtifact {
  const { widthPx, heightPx, seed } = plan;
  if (plan.output === 'video') {
    const { pictures: numFrames, fps } = plan;
    return { kind: 'video', widthPx, heightPx, numFrames, fps, seed, audio: null, encoded: null, facts };
  }
  const images = Array.from(
    { length: plan.pictures },
    (_, index): ImageDescriptor => ({ widthPx, heightPx, seed: seed + index, encoded: null }),
  );
  return { kind: 'images', images, facts };
}
