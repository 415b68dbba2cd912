import { drawNormal, type Random } from '../../foundation/random.ts';

/** How long an autoregressive stage takes until its first output. */
export type FirstOutputLaw = {
  /** Counted from HTTP accept in a stage that reads the prompt, else from the first upstream chunk, ms. */
  readonly baseMs: number;
  /** Added per prompt token, ms. */
  readonly perInputTokenMs: number;
  /** Relative standard deviation. */
  readonly sd: number;
};

/** How long one decoding step takes. */
export type StepLaw = {
  /** Mean step of a request that has the stage to itself, ms. */
  readonly nativeMs: number;
  /** While upstream still produces, a step takes at least this share of the upstream step; 0 = not bound to it. */
  readonly lockToUpstream: number;
  /** Relative standard deviation of a step. */
  readonly sd: number;
  /** Share of steps that are outliers. */
  readonly outlierP: number;
  /** Mean relative excess of an outlier, which is uniform over half to one and a half times this. */
  readonly outlierScale: number;
  /** One step of each request that takes longer, ms; 0 = none. */
  readonly stallMs: number;
  /** The token that comes late by it, from 2. */
  readonly stallAtToken: number;
};

/**
 * Relative growth of durations with the number r of requests: a step takes 1 + step · (r − 1) times as long, a first
 * output 1 + ttft · (r − 1)^ttftPower times.
 */
export type BatchSlope = {
  readonly step: number;
  readonly ttft: number;
  readonly ttftPower: number;
  /** Which requests count: those that run in this stage, or all that are under way in the pipeline. */
  readonly over: 'stage' | 'pipeline';
};

/**
 * Output length: as the request asks; a cycle of lengths by arrival (one entry = fixed); or in proportion to
 * something of the request, `imageToken` being the tokens that describe a picture of the asked size.
 */
export type LengthLaw =
  | 'fromRequest'
  | readonly number[]
  | {
      readonly per: 'inputToken' | 'audioSecond' | 'imageToken';
      readonly rate: number;
      readonly min: number;
    };

/**
 * What happens after the last token of a stage whose KV cache is handed on: the cache has been copied after
 * `readyMs`, so that the next stage can start, and the stage has finished after `finishMs`.
 */
export type KvLaw = { readonly readyMs: number; readonly finishMs: number };

export type AutoregressiveLaws = {
  readonly kind: 'ar';
  readonly ttft: FirstOutputLaw;
  readonly step: StepLaw;
  readonly batchSlope: BatchSlope;
  readonly length: LengthLaw;
  /** `null` = its KV cache stays where it is. */
  readonly kv: KvLaw | null;
  /** Texts that are given as replies, in turn by arrival; `null` = simulated words. */
  readonly replies: readonly string[] | null;
};

/** How much upstream output a generation stage takes at a time. */
export type ChunkLaw = {
  readonly frames: number;
  /** In the first chunk, smaller so that sound starts early. */
  readonly initial: number;
};

/** How long a vocoder takes for a chunk, ms. */
export type DecodeLaw = {
  /** The first chunk of a request. */
  readonly firstMs: number;
  /** Every later one. */
  readonly baseMs: number;
  readonly perFrameMs: number;
};

/** Sound per codec frame. */
export type SpeechLaw = {
  readonly sampleRateHz: number;
  readonly samplesPerFrame: number;
  /** Lost at each chunk border to the vocoder's context, and once where the whole comes as one chunk. */
  readonly trimSamples: number;
};

export type GenerationLaws = {
  readonly kind: 'generation';
  readonly chunk: ChunkLaw;
  readonly decode: DecodeLaw;
  readonly speech: SpeechLaw;
  readonly batchSlope: BatchSlope;
};

/** How long the work on images or a video takes. */
export type DenoiseLaw = {
  /** One step for `refPixels` pixels of one request alone, all frames together, ms. */
  readonly msPerStep: number;
  /** Pixels that `msPerStep` holds for: width · height · frames. */
  readonly refPixels: number;
  /** A step grows with (pixels / refPixels) to this power. */
  readonly exponent: number;
  /** Relative standard deviation of a request's steps together. */
  readonly sd: number;
};

/** Memory of a diffusion worker, MB. */
export type PeakMemoryLaw = {
  readonly baseMb: number;
  /** Of `refPixels` pixels, and added per million more (taken off per million less). */
  readonly perMegapixelMb: number;
  /** Standard deviation, MB. */
  readonly sdMb: number;
};

export type DiffusionLaws = {
  readonly kind: 'diffusion';
  readonly denoise: DenoiseLaw;
  /** Once per request: text encoding and decoding, ms for `refPixels` pixels. */
  readonly encodeMs: number;
  readonly decodeMs: number;
  /** From the stage's last work until its output is handed over (transfer, encoding), ms; not stage time. */
  readonly overheadMs: number;
  readonly peakMemory: PeakMemoryLaw;
  /** Growth of a step per further request that shares it. */
  readonly batchSlope: BatchSlope;
};

export type PoolingLaws = {
  readonly kind: 'pooling';
  /** One forward: ms, and ms per prompt token; `sd` relative. */
  readonly ttft: FirstOutputLaw;
  readonly batchSlope: BatchSlope;
};

function scaledFirstOutput(ttft: FirstOutputLaw, timeScale: number): FirstOutputLaw {
  return {
    ...ttft,
    baseMs: ttft.baseMs * timeScale,
    perInputTokenMs: ttft.perInputTokenMs * timeScale,
  };
}

/** Multiplies all durations of a stage's laws; counts and memory stay. 0.1 is ten times faster. */
export function scaleAutoregressiveLaws(laws: AutoregressiveLaws, timeScale: number): AutoregressiveLaws {
  const { ttft, step, kv } = laws;
  return {
    ...laws,
    ttft: scaledFirstOutput(ttft, timeScale),
    step: { ...step, nativeMs: step.nativeMs * timeScale, stallMs: step.stallMs * timeScale },
    kv: kv === null ? null : { readyMs: kv.readyMs * timeScale, finishMs: kv.finishMs * timeScale },
  };
}

/** See {@link scaleAutoregressiveLaws}. */
export function scaleGenerationLaws(laws: GenerationLaws, timeScale: number): GenerationLaws {
  const { firstMs, baseMs, perFrameMs } = laws.decode;
  const decode = {
    firstMs: firstMs * timeScale,
    baseMs: baseMs * timeScale,
    perFrameMs: perFrameMs * timeScale,
  };
  return { ...laws, decode };
}

/** See {@link scaleAutoregressiveLaws}. */
export function scaleDiffusionLaws(laws: DiffusionLaws, timeScale: number): DiffusionLaws {
  return {
    ...laws,
    denoise: { ...laws.denoise, msPerStep: laws.denoise.msPerStep * timeScale },
    encodeMs: laws.encodeMs * timeScale,
    decodeMs: laws.decodeMs * timeScale,
    overheadMs: laws.overheadMs * timeScale,
  };
}

/** See {@link scaleAutoregressiveLaws}. */
export function scalePoolingLaws(laws: PoolingLaws, timeScale: number): PoolingLaws {
  return { ...laws, ttft: scaledFirstOutput(laws.ttft, timeScale) };
}

/** Never faster than a tenth of the law, however wide its noise is set. */
const leastFactor = 0.1;

/** Factor of mean 1 for a first output. */
export function drawFirstOutputFactor(law: FirstOutputLaw, random: Random): number {
  return law.sd === 0 ? 1 : Math.max(leastFactor, 1 + law.sd * drawNormal(random));
}

/** Factor of mean 1 for a step: outliers are balanced by the rest, so that they do not lift the mean. */
export function drawStepFactor(law: StepLaw, random: Random): number {
  let factor = 1;
  if (law.sd > 0) factor += law.sd * drawNormal(random);
  if (law.outlierP > 0) {
    factor -= law.outlierP * law.outlierScale;
    if (random.uniform() < law.outlierP) factor += law.outlierScale * (0.5 + random.uniform());
  }
  return Math.max(leastFactor, factor);
}

/** Growth of a duration with `running` requests, this one included. */
export function slopeFactor(slope: number, running: number): number {
  return 1 + slope * Math.max(0, running - 1);
}

/** Growth of a first output with `running` requests, this one included. */
export function firstOutputGrowth({ ttft, ttftPower }: BatchSlope, running: number): number {
  return running <= 1 ? 1 : 1 + ttft * (running - 1) ** ttftPower;
}
