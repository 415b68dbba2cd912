/** An image, video or sound that came with a request, as far as an engine may want to know it. */
export type MediaReference = {
  readonly kind: 'image' | 'video' | 'audio';
  /** `null` = a sound, or not known. */
  readonly widthPx: number | null;
  readonly heightPx: number | null;
  /** `null` = an image, or not known. */
  readonly durationS: number | null;
  /** The file itself, for an engine that reads it; `null` = not kept. */
  readonly bytes: Buffer | null;
};

/** What images and videos have in common. `null` = the stage's deployed default. */
type DiffusionTask = {
  readonly prompt: string;
  readonly negativePrompt: string | null;
  readonly widthPx: number | null;
  readonly heightPx: number | null;
  readonly numInferenceSteps: number | null;
  readonly guidanceScale: number | null;
  readonly trueCfgScale: number | null;
  /** `null` = drawn by the engine. */
  readonly seed: number | null;
  readonly references: readonly MediaReference[];
  /** Everything else that was asked for, by its name in the API; a simulated engine reads none of it. */
  readonly extra: Readonly<Record<string, unknown>>;
};

/** Images from a prompt, with references also edits. An `auto` size is settled before, from the first reference. */
export type ImageTask = DiffusionTask & {
  readonly kind: 'image';
  /** Images wanted, at least 1. */
  readonly count: number;
};

/** A video from a prompt, with references also from images or videos. */
export type VideoTask = DiffusionTask & {
  readonly kind: 'video';
  /** `null` = the stage's default. `seconds` is turned into frames before, by `fps`. */
  readonly numFrames: number | null;
  /** Frames per second, may be fractional; `null` = the stage's default. */
  readonly fps: number | null;
};

/** Speech from text. */
export type SpeechTask = {
  readonly kind: 'speech';
  readonly text: string;
  /** Lower-case name; `null` = the model's default. */
  readonly voice: string | null;
  /** 0.25 to 4: the sound is as much shorter. */
  readonly speed: number;
  /** Length of the voice to clone, s; `null` = none. */
  readonly referenceAudioS: number | null;
};

/** Text from speech. */
export type TranscribeTask = {
  readonly kind: 'transcribe';
  readonly audioS: number;
  /** Into English, whatever was spoken. */
  readonly translate: boolean;
};

/** A vector from a text. */
export type EmbedTask = {
  readonly kind: 'embed';
  readonly text: string;
  /** `null` = the model's own. */
  readonly dimensions: number | null;
};

/** How well a document answers a query. */
export type ScoreTask = { readonly kind: 'score'; readonly query: string; readonly document: string };

/** Text, and speech after it, from messages or a bare prompt. */
export type ChatTask = { readonly kind: 'chat' };

/**
 * What a request asks of a pipeline beside the sampling of its language stages. Every stage of the request sees it
 * and takes what concerns it: the AR stage of an image model reads the sampling, its diffusion stage the task.
 */
export type StageTask =
  | ChatTask
  | ImageTask
  | VideoTask
  | SpeechTask
  | TranscribeTask
  | EmbedTask
  | ScoreTask;

/** The task of a request that names none. */
export const chatTask: ChatTask = { kind: 'chat' };

/** The request as it came, for an engine that hands it on to another server. */
export type RequestSource = {
  /** Route it came by, e.g. `/v1/chat/completions`. */
  readonly route: string;
  /** Its validated body; form fields as an object. */
  readonly body: Readonly<Record<string, unknown>>;
};
