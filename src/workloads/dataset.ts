import type { Tokenizer } from '../tokens/tokenizer.ts';
import type { MmOptions } from './mm-plan.ts';
import type { OmniInteractOptions } from './omniinteract/omniinteract-options.ts';
import type { Sample } from './sample.ts';

/** The flags that choose and shape the dataset; each dataset reads the ones that are its own. */
export type DatasetOptions = {
  readonly name: string;
  readonly path: string | null;
  readonly disableShuffle: boolean;
  readonly noOversample: boolean;
  readonly skipChatTemplate: boolean;
  readonly chatTemplateKwargs: Readonly<Record<string, unknown>>;
  readonly sharegptOutputLen: number | null;
  /** −1 = use each row's `output_tokens`. */
  readonly customOutputLen: number;
  /** Leave out rows that do not parse, with a count, instead of stopping. */
  readonly skipInvalid: boolean;
  readonly randomInputLen: number;
  readonly randomOutputLen: number;
  readonly randomPrefixLen: number;
  /** Each in [0, 1): lengths are uniform in L·(1 ± ratio). */
  readonly randomRangeRatio: { readonly input: number; readonly output: number };
  /** Prompts a request, for endpoints that take lists. */
  readonly randomBatchSize: number;
  /** Query and documents are read apart, as embedding models do. */
  readonly noReranker: boolean;
  readonly randomMm: RandomMmOptions;
  /** Make whole messages of text and media here, instead of leaving that to the endpoint. */
  readonly enableMultimodalChat: boolean;
  /** Send files and web addresses as data URLs, instead of leaving it to the server to fetch them. */
  readonly ensureClientSideData: boolean;
  /** Requests of a trace are due when the trace says; `null` = where it says so of every one. */
  readonly selfTimed: boolean | null;
  readonly sonnet: SonnetOptions;
  readonly prefixRepetition: PrefixRepetitionOptions;
  readonly timedTrace: TimedTraceOptions;
  readonly specBench: { readonly outputLen: number; readonly category: string | null };
  readonly speedBench: {
    readonly subset: string;
    readonly outputLen: number;
    readonly category: string | null;
  };
  readonly hf: HfOptions;
  readonly omniinteract: OmniInteractOptions;
};

/** Lengths in tokens. */
export type SonnetOptions = {
  readonly inputLen: number;
  readonly outputLen: number;
  readonly prefixLen: number;
};

/** Lengths in tokens. */
export type PrefixRepetitionOptions = {
  readonly prefixLen: number;
  readonly suffixLen: number;
  readonly numPrefixes: number;
  readonly outputLen: number;
};

/** How a trace of lengths and times is read. */
export type TimedTraceOptions = {
  /** Tokens of a hash id. */
  readonly chunkHashSize: number;
  /** Seconds of one unit of its timestamps. */
  readonly secMultiplier: number;
  /** Names of its fields. */
  readonly labels: {
    readonly timestamp: string;
    readonly inputLength: string;
    readonly outputLength: string;
    readonly hashIds: string;
  };
  /** Flags that were given rather than left at their defaults, so that what a file's form says gives way to them. */
  readonly given: readonly string[];
};

/** Which rows of a data set on the hub; `null` = the data set's own default. */
export type HfOptions = {
  /** The data set's id where `path` is a place on this machine. */
  readonly name: string | null;
  readonly subset: string | null;
  readonly split: string | null;
  readonly outputLen: number | null;
  /** Fetch all files and choose among all rows. */
  readonly noStream: boolean;
  readonly blazeditDistance: { readonly min: number; readonly max: number };
  /** `max` null = no limit. */
  readonly asrAudioLenS: { readonly min: number; readonly max: number | null };
  readonly bfclCategories: readonly string[];
};

/** What random media are made of. */
export type RandomMmOptions = MmOptions & {
  /** `auto` = FFmpeg with x264 where there is one. */
  readonly videoEncoder: 'auto' | 'ffmpeg' | 'built-in';
  /** As what WAV files are announced. */
  readonly audioMime: string;
};

export type LoadContext = {
  readonly options: DatasetOptions;
  readonly numPrompts: number;
  readonly seed: number;
  readonly requestIdPrefix: string;
  /** `null` with `--skip-tokenizer-init`. */
  readonly tokenizer: Tokenizer | null;
  /** The endpoint takes messages, so the server applies the chat template. */
  readonly chatEndpoint: boolean;
  /** The endpoint speaks, draws or embeds its prompts: no chat template belongs to them. */
  readonly plainPrompts?: boolean;
  /**
   * Asks the endpoint whether it can express such a sample, before many are made; absent = nobody to ask.
   * @throws UsageError where it can't
   */
  tryOut?(sample: Sample): void;
  /** Where caches lie (XDG_CACHE_HOME, HOME) and whether they are used (OMNIMETER_CACHE); this process's by default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Whether an earlier run of the same command has done a case, so that its media are not needed; absent = none. */
  isFinished?(caseKey: string): boolean;
  /** A line for the user, e.g. how many rows were left out. */
  note(line: string): void;
  /** Progress of slow sampling. */
  progress(done: number, total: number): void;
};

/** One source of requests. Same options and seed, same samples. */
export type Dataset = {
  readonly name: string;
  /** One sentence for help and docs. */
  readonly doc: string;
  /** Flags that belong to this dataset alone (long names without dashes); given with another dataset they have no effect. */
  readonly flags: readonly string[];
  /** Has rows, of which `--num-prompts 0` takes all. */
  readonly hasRows?: true;
  /** In place of the flags' own defaults, where they would make no sense. */
  readonly defaults?: { readonly numPrompts: number; readonly maxConcurrency: number };
  /** Says when each request is due, unless `--no-self-timed`. */
  readonly isTimed?: true;
  /** Its prompts mean nothing, so that only `ignore_eos` makes answers as long as asked for. */
  readonly meaningless?: true;
  /**
   * @throws UsageError for options it cannot honour
   * @throws InputFileError for a file or row that does not parse, naming file, line, what was found and expected
   */
  load(context: LoadContext): Promise<readonly Sample[]>;
};
