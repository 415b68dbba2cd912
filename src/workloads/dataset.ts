import type { Tokenizer } from '../tokens/tokenizer.ts';
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
  /** Where caches lie (XDG_CACHE_HOME, HOME) and whether they are used (OMNIMETER_CACHE); this process's by default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
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
  /**
   * @throws UsageError for options it cannot honour
   * @throws InputFileError for a file or row that does not parse, naming file, line, what was found and expected
   */
  load(context: LoadContext): Promise<readonly Sample[]>;
};
