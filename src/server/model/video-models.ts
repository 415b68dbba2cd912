import type { DiffusionDefaults } from '../engine/diffusion-plan.ts';
import type { DiffusionLaws } from '../engine/sim-laws.ts';
import type { MediaLimits, PipelineDefinition } from '../pipeline/pipeline-definition.ts';
import { diffusionStage, noMedia, pipeline } from './stage-defaults.ts';

/** What tells one video model from another. */
type VideoModel = {
  readonly name: string;
  readonly modelIds: readonly string[];
  readonly profileName: string;
  readonly defaults: DiffusionDefaults;
  /** Of a video of the default size and length; `denoise.refPixels` follows from that. */
  readonly laws: Omit<DiffusionLaws, 'kind' | 'batchSlope' | 'denoise'> & {
    readonly denoise: Omit<DiffusionLaws['denoise'], 'refPixels'>;
  };
  readonly limitMmPerPrompt?: MediaLimits;
};

function videoPipeline({
  name,
  modelIds,
  profileName,
  defaults,
  laws,
  limitMmPerPrompt,
}: VideoModel): PipelineDefinition {
  const { widthPx, heightPx, numFrames } = defaults;
  return pipeline({
    name,
    modelIds,
    capabilities: ['videos'],
    chatTemplateTokens: { perMessage: 0, generationPrompt: 0 },
    limitMmPerPrompt: limitMmPerPrompt ?? noMedia,
    stages: [
      diffusionStage({
        stageId: 0,
        name: 'diffusion',
        profileName,
        finalOutputType: 'video',
        defaults,
        laws: { ...laws, denoise: { ...laws.denoise, refPixels: widthPx * heightPx * numFrames } },
      }),
    ],
  });
}

const wanSize = { widthPx: 832, heightPx: 480, numFrames: 81, fps: 16 };
const oneImage: MediaLimits = { image: 1, audio: 0, video: 0 };

/** Helios-Distilled, calibrated to the published run of 33 frames at 24 a second: 4,503 ms, 46,833 MB. */
export const heliosDistilled = videoPipeline({
  name: 'helios_distilled',
  modelIds: ['BestWishYsh/Helios-Distilled'],
  profileName: 'HeliosPipeline',
  defaults: { widthPx: 640, heightPx: 384, numFrames: 33, fps: 24, numInferenceSteps: 6 },
  limitMmPerPrompt: { image: 1, audio: 0, video: 1 },
  laws: {
    denoise: { msPerStep: 708, exponent: 1, sd: 0.002 },
    encodeMs: 60,
    decodeMs: 195,
    overheadMs: 70,
    peakMemory: { baseMb: 46833, perMegapixelMb: 100, sdMb: 90 },
  },
});

/** Wan2.1 from text, the 14B model. No published run; a likely order of size. */
export const wan21 = videoPipeline({
  name: 'wan2_1_t2v',
  modelIds: ['Wan-AI/Wan2.1-T2V-14B-Diffusers', 'Wan-AI/Wan2.1-T2V-14B'],
  profileName: 'WanPipeline',
  defaults: { ...wanSize, numInferenceSteps: 50 },
  laws: {
    denoise: { msPerStep: 1900, exponent: 1.6, sd: 0.003 },
    encodeMs: 200,
    decodeMs: 2500,
    overheadMs: 250,
    peakMemory: { baseMb: 45000, perMegapixelMb: 120, sdMb: 0 },
  },
});

/** The small Wan2.1. No published run; a likely order of size. */
export const wan21Small = videoPipeline({
  name: 'wan2_1_t2v_1_3b',
  modelIds: ['Wan-AI/Wan2.1-T2V-1.3B-Diffusers', 'Wan-AI/Wan2.1-T2V-1.3B'],
  profileName: 'WanPipeline',
  defaults: { ...wanSize, numInferenceSteps: 50 },
  laws: {
    denoise: { msPerStep: 460, exponent: 1.6, sd: 0.003 },
    encodeMs: 200,
    decodeMs: 2500,
    overheadMs: 250,
    peakMemory: { baseMb: 18000, perMegapixelMb: 120, sdMb: 0 },
  },
});

/** Wan2.1 from a picture. No published run; a likely order of size. */
export const wan21I2v = videoPipeline({
  name: 'wan2_1_i2v',
  modelIds: ['Wan-AI/Wan2.1-I2V-14B-480P-Diffusers', 'Wan-AI/Wan2.1-I2V-14B-720P-Diffusers'],
  profileName: 'WanImageToVideoPipeline',
  defaults: { ...wanSize, numInferenceSteps: 50 },
  limitMmPerPrompt: oneImage,
  laws: {
    denoise: { msPerStep: 1950, exponent: 1.6, sd: 0.003 },
    encodeMs: 900,
    decodeMs: 2500,
    overheadMs: 250,
    peakMemory: { baseMb: 48000, perMegapixelMb: 120, sdMb: 0 },
  },
});

/** Wan2.2 from text, with two experts. Times of the published runs from a picture. */
export const wan22T2v = videoPipeline({
  name: 'wan2_2_t2v',
  modelIds: ['Wan-AI/Wan2.2-T2V-A14B-Diffusers', 'Wan-AI/Wan2.2-T2V-A14B'],
  profileName: 'Wan22Pipeline',
  defaults: { ...wanSize, numInferenceSteps: 40 },
  laws: {
    denoise: { msPerStep: 580, exponent: 1.96, sd: 0.003 },
    encodeMs: 300,
    decodeMs: 2500,
    overheadMs: 250,
    peakMemory: { baseMb: 75500, perMegapixelMb: 180, sdMb: 0 },
  },
});

/** Wan2.2 from a picture: 832 × 480 in 26.1 s and 76.2 GB on one GPU, as published; 1280 × 720 takes 5.2 times as long. */
export const wan22I2v = videoPipeline({
  name: 'wan2_2_i2v',
  modelIds: ['Wan-AI/Wan2.2-I2V-A14B-Diffusers', 'Wan-AI/Wan2.2-I2V-A14B'],
  profileName: 'Wan22I2VPipeline',
  defaults: { ...wanSize, numInferenceSteps: 40 },
  limitMmPerPrompt: oneImage,
  laws: {
    denoise: { msPerStep: 565, exponent: 1.96, sd: 0.003 },
    encodeMs: 1000,
    decodeMs: 2500,
    overheadMs: 250,
    peakMemory: { baseMb: 76200, perMegapixelMb: 180, sdMb: 0 },
  },
});

/** HunyuanVideo. No published run; a likely order of size. */
export const hunyuanVideo = videoPipeline({
  name: 'hunyuan_video',
  modelIds: ['tencent/HunyuanVideo', 'hunyuanvideo-community/HunyuanVideo', 'tencent/HunyuanVideo-1.5'],
  profileName: 'HunyuanVideoPipeline',
  defaults: { widthPx: 832, heightPx: 480, numFrames: 61, fps: 24, numInferenceSteps: 50 },
  limitMmPerPrompt: oneImage,
  laws: {
    denoise: { msPerStep: 1500, exponent: 1.7, sd: 0.003 },
    encodeMs: 350,
    decodeMs: 3200,
    overheadMs: 200,
    peakMemory: { baseMb: 52000, perMegapixelMb: 150, sdMb: 0 },
  },
});
