import type { OutputUnitType } from '../../protocol/stage-metrics.ts';
import type { DiffusionDefaults } from '../engine/diffusion-plan.ts';
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
  | 'pooling'
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

/** Which engine runs a stage, by its name in the registry, with what it must know. */
export type EngineChoice = { readonly name: string; readonly options: Readonly<Record<string, unknown>> };

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
  /** Requests served at once by a replica; more wait. Of a vocoder: chunks in one forward. */
  readonly maxNumSeqs: number;
  /** Engines that share the stage's requests. */
  readonly numReplicas: number;
  readonly engine: EngineChoice;
  /** Deployment keys without a meaning here, kept for engines that know them. */
  readonly engineExtras: Readonly<Record<string, unknown>>;
};

/** A stage that decodes tokens. */
export type AutoregressiveStage = StageBase & {
  readonly executionType: 'LLM_AR';
  /** Prompt tokens that a replica reads in one step, of all requests together. */
  readonly maxNumBatchedTokens: number;
  /** Tokens that fit the KV cache of a replica. */
  readonly kvCacheTokens: number;
  /** Limit of a request that names none. */
  readonly defaultMaxTokens: number;
  /** Where a reply without a limit ends by itself, tokens. */
  readonly naturalTokens: number;
  /** Size of what it hands to the next stage per token, bytes. */
  readonly handOffBytesPerUnit: number;
  /** Half of a disaggregated stage: one that only reads prompts, or one that decodes from another's KV cache. */
  readonly role: 'prefill' | 'decode' | null;
  /** Prompts without condition that guidance needs beside the request's own, by role; mostly none. */
  readonly cfgCompanions: readonly string[];
  readonly laws: AutoregressiveLaws;
};

/** A stage that turns chunks of upstream output into output in one forward each. */
export type GenerationStage = StageBase & {
  readonly executionType: 'LLM_GENERATION';
  readonly laws: GenerationLaws;
};

/** A stage that denoises images or videos. */
export type DiffusionStage = StageBase & {
  readonly executionType: 'DIFFUSION';
  readonly defaults: DiffusionDefaults;
  /** Requests join and leave a batch between steps; otherwise a batch stays together. */
  readonly stepExecution: boolean;
  /** Name under which its profiler reports, e.g. `QwenImagePipeline`. */
  readonly profileName: string;
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

/** How full-duplex conversations are held. */
export type DuplexDeployment = {
  /** The model decides once per so many ms of input whether to speak. */
  readonly chunkPeriodMs: number;
  /** The model decides when to speak; otherwise it answers turns, which the client or the server ends. */
  readonly modelDecides: boolean;
  /** Conversations at once; further ones are refused. */
  readonly maxSessions: number;
  /** How long a conversation in which nothing happens lasts where it does not say, s. */
  readonly idleTtlS: number;
  /** How long one whose client has gone waits for it, s. */
  readonly disconnectGraceS: number;
};

/** A model's stages and what the API must know of it. Topology is code; how it is deployed may be overridden. */
export type PipelineDefinition = {
  readonly name: string;
  /** Full ids of the models that it serves. */
  readonly modelIds: readonly string[];
  /** Last path segments that it serves beside those of `modelIds`; `null` = none. */
  readonly modelPattern: RegExp | null;
  /** File name of its bundled deployment. */
  readonly defaultDeploy: string;
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
  /** From HTTP accept until the first stage has the request: reading media, rendering the prompt, ms. */
  readonly preprocessMs: number;
  /** Feed downstream stages chunk by chunk; otherwise each starts when the one before it has finished. */
  readonly asyncChunk: boolean;
  /** Requests whose later stages may be at work at once; 0 = any number. */
  readonly activeStreamWindow: number;
  /** `null` = it answers in turns. */
  readonly duplex: DuplexDeployment | null;
  readonly stages: readonly StageDefinition[];
};

/** Output modalities in stage order. */
export function pipelineModalities(pipeline: PipelineDefinition): FinalOutputType[] {
  return pipeline.stages.flatMap((stage) => (stage.finalOutputType === null ? [] : [stage.finalOutputType]));
}
