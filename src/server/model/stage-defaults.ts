import type { DiffusionDefaults } from '../engine/diffusion-plan.ts';
import type { AutoregressiveLaws, BatchSlope, DiffusionLaws, StepLaw } from '../engine/sim-laws.ts';
import type {
  AutoregressiveStage,
  DiffusionStage,
  GenerationStage,
  MediaLimits,
  PipelineDefinition,
  PoolingStage,
} from '../pipeline/pipeline-definition.ts';

/** Noise of a decoding step: a normal of 4.5 % and one step in a hundred that takes 25 to 75 % longer. */
export const stepNoise = { sd: 0.045, outlierP: 0.01, outlierScale: 0.5 };

/** A steady step that is bound to nothing. */
export function stepLaw(nativeMs: number, over: Partial<StepLaw> = {}): StepLaw {
  return { nativeMs, lockToUpstream: 0, ...stepNoise, stallMs: 0, stallAtToken: 0, ...over };
}

/** Growth with the requests in the stage. */
export function growth(step: number, ttft: number): BatchSlope {
  return { step, ttft, ttftPower: 1, over: 'stage' };
}

/** What the laws of most autoregressive stages have in common. */
const plainLaws = {
  kind: 'ar',
  length: 'fromRequest',
  kv: null,
  replies: null,
} as const satisfies Partial<AutoregressiveLaws>;

type AutoregressiveLawsGiven = Pick<AutoregressiveLaws, 'ttft' | 'step' | 'batchSlope'> &
  Partial<AutoregressiveLaws>;

type Given<Stage, Needed extends keyof Stage> = Pick<Stage, Needed> & Partial<Stage>;

const commonStage = { numReplicas: 1, engine: { name: 'sim', options: {} }, engineExtras: {} };

/** An autoregressive stage whose other fields are as in most. */
export function autoregressiveStage(
  given: Omit<Given<AutoregressiveStage, 'stageId' | 'name'>, 'laws'> & { laws: AutoregressiveLawsGiven },
): AutoregressiveStage {
  return {
    ...commonStage,
    executionType: 'LLM_AR',
    inputSources: [],
    finalOutputType: null,
    isComprehension: false,
    outputUnitType: given.finalOutputType === 'text' ? 'text' : 'stream',
    maxNumSeqs: 64,
    maxNumBatchedTokens: 32768,
    // What 16 GB hold of 48 layers' keys and values, as beside 30B weights on an 80 GB device.
    kvCacheTokens: 163840,
    defaultMaxTokens: 2048,
    naturalTokens: 256,
    handOffBytesPerUnit: 0,
    role: null,
    cfgCompanions: [],
    ...given,
    laws: { ...plainLaws, ...given.laws },
  };
}

/** A vocoder whose other fields are as in most. */
export function vocoderStage(given: Given<GenerationStage, 'stageId' | 'name' | 'laws'>): GenerationStage {
  return {
    ...commonStage,
    executionType: 'LLM_GENERATION',
    inputSources: [given.stageId - 1],
    finalOutputType: 'audio',
    isComprehension: false,
    outputUnitType: 'audio',
    maxNumSeqs: 64,
    ...given,
  };
}

/** What of a diffusion stage's laws is mostly the same. */
type DiffusionLawsGiven = Pick<DiffusionLaws, 'denoise' | 'peakMemory'> & Partial<DiffusionLaws>;

/** A diffusion stage whose other fields are as in most: one request at a time, in batches that stay together. */
export function diffusionStage(
  given: Omit<Given<DiffusionStage, 'stageId' | 'name' | 'profileName' | 'defaults'>, 'laws'> & {
    laws: DiffusionLawsGiven;
  },
): DiffusionStage {
  return {
    ...commonStage,
    executionType: 'DIFFUSION',
    inputSources: given.stageId === 0 ? [] : [given.stageId - 1],
    finalOutputType: 'image',
    isComprehension: given.stageId === 0,
    outputUnitType: given.finalOutputType === 'video' ? 'video' : 'image',
    maxNumSeqs: 1,
    stepExecution: false,
    ...given,
    laws: {
      kind: 'diffusion',
      encodeMs: 0,
      decodeMs: 0,
      overheadMs: 0,
      // Two requests denoised together take little less than one after the other.
      batchSlope: growth(0.85, 0),
      ...given.laws,
    },
  };
}

/** A pooling stage whose other fields are as in most. */
export function poolingStage(
  given: Given<PoolingStage, 'stageId' | 'name' | 'dimensions' | 'laws'>,
): PoolingStage {
  return {
    ...commonStage,
    executionType: 'LLM_POOLING',
    inputSources: [],
    finalOutputType: 'pooling',
    isComprehension: true,
    outputUnitType: 'latent',
    maxNumSeqs: 64,
    ...given,
  };
}

/** What a stage makes of images by default: one picture of a million pixels. */
export function imageDefaults(numInferenceSteps: number): DiffusionDefaults {
  return { widthPx: 1024, heightPx: 1024, numInferenceSteps, numFrames: 1, fps: 24 };
}

/** Pixels of a 1024 × 1024 picture. */
export const megapixel = 1024 * 1024;

export const anyMedia: MediaLimits = { image: null, audio: null, video: null };
export const noMedia: MediaLimits = { image: 0, audio: 0, video: 0 };

/** A pipeline whose other fields are as in most. */
export function pipeline(
  given: Given<PipelineDefinition, 'name' | 'modelIds' | 'capabilities' | 'stages'>,
): PipelineDefinition {
  return {
    modelPattern: null,
    defaultDeploy: `${given.name}.yaml`,
    maxModelLen: 32768,
    chatTemplateTokens: { perMessage: 5, generationPrompt: 3 },
    mediaPartTokens: null,
    limitMmPerPrompt: noMedia,
    voices: null,
    preprocessMs: 0,
    asyncChunk: false,
    activeStreamWindow: 0,
    duplex: null,
    ...given,
  };
}
