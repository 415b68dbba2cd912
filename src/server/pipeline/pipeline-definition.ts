import type { OutputUnitType } from '../../protocol/stage-metrics.ts';
import type { AutoregressiveLaws, DiffusionLaws, GenerationLaws, PoolingLaws } from '../engine/sim-laws.ts';

/** What a client sees of a stage. `pooling` is a vector or a score. */
export type FinalOutputType = 'text' | 'audio' | 'image' | 'video' | 'latent' | 'pooling';

/** What a model is for: the routes that answer for it. */
export type Capability =
  | 'chat'
  | 'completions'
  | 'speech'
  | 'images'
  | 'edits'
  | 'videos'
  | 'embeddings'
  | 'rerank'
  | 'transcriptions'
  | 'realtime';

/** Most media parts of each kind in one prompt; `null` = no limit. */
export type MediaLimits = {
  readonly image: number | null;
  readonly audio: number | null;
  readonly video: number | null;
};

/** What a speech model can say of its voices. */
export type VoiceFacts = {
  /** Lower case, sorted. */
  readonly voices: readonly string[];
  readonly defaultVoice: string;
};

type StageBase = {
  /** Position in the pipeline, from 0. */
  readonly stageId: number;
  readonly name: string;
  /** Stages whose output it reads; none = it reads the prompt. */
  readonly inputSources: readonly number[];
  /** What it gives to the client; `null` = an internal stage. */
  readonly finalOutputType: FinalOutputType | null;
  /** Sampling fields of a request act on this stage alone. */
  readonly isComprehension: boolean;
  readonly outputUnitType: OutputUnitType;
  /** Requests served at once; more wait. */
  readonly maxNumSeqs: number;
};

/** A stage that decodes tokens. */
export type AutoregressiveStage = StageBase & {
  readonly executionType: 'LLM_AR';
  /** Limit of a request that names none. */
  readonly defaultMaxTokens: number;
  /** Where a reply without a limit ends by itself, tokens. */
  readonly naturalTokens: number;
  /** Size of what it hands to the next stage per token, bytes. */
  readonly handOffBytesPerUnit: number;
  readonly laws: AutoregressiveLaws;
};

/** A stage that turns chunks of upstream output into output in one forward each. */
export type GenerationStage = StageBase & {
  readonly executionType: 'LLM_GENERATION';
  readonly laws: GenerationLaws;
};

/** What a diffusion stage makes where the request does not say. */
export type DiffusionDefaults = {
  readonly widthPx: number;
  readonly heightPx: number;
  readonly numInferenceSteps: number;
  /** Of a video; 1 for images. */
  readonly numFrames: number;
  /** Frames per second of a video. */
  readonly fps: number;
};

/** A stage that denoises images or videos. */
export type DiffusionStage = StageBase & {
  readonly executionType: 'DIFFUSION';
  readonly defaults: DiffusionDefaults;
  readonly laws: DiffusionLaws;
};

/** A stage that makes a vector or a score from a prompt in one forward. */
export type PoolingStage = StageBase & {
  readonly executionType: 'LLM_POOLING';
  /** Length of its vectors. */
  readonly dimensions: number;
  readonly laws: PoolingLaws;
};

export type StageDefinition = AutoregressiveStage | GenerationStage | DiffusionStage | PoolingStage;

/** Tokens that the chat template adds around the messages' texts. */
export type ChatTemplateTokens = { readonly perMessage: number; readonly generationPrompt: number };

/** A model's stages and what the API must know of it. Topology is code; how it is deployed may be overridden. */
export type PipelineDefinition = {
  readonly name: string;
  /** Full ids of the models that it serves. */
  readonly modelIds: readonly string[];
  /** Last path segments that it serves beside those of `modelIds`; `null` = none. */
  readonly modelPattern: RegExp | null;
  /** Prompt and reply together, tokens. */
  readonly maxModelLen: number;
  readonly chatTemplateTokens: ChatTemplateTokens;
  /** Prompt tokens of one media part, whose content no simulated engine reads; `null` = the model takes none. */
  readonly mediaPartTokens: number | null;
  /** Routes that answer for it; another answers 400 or 503. */
  readonly capabilities: readonly Capability[];
  readonly limitMmPerPrompt: MediaLimits;
  /** `null` = it has no voices to choose from. */
  readonly voices: VoiceFacts | null;
  readonly stages: readonly StageDefinition[];
};

/** Output modalities in stage order. */
export function pipelineModalities(pipeline: PipelineDefinition): FinalOutputType[] {
  return pipeline.stages.flatMap((stage) => (stage.finalOutputType === null ? [] : [stage.finalOutputType]));
}
