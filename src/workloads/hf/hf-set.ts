import type { ClientTemplate } from '../client-template.ts';
import type { LoadContext } from '../dataset.ts';
import type { Row } from '../row-value.ts';
import type { Sample } from '../sample.ts';

/** What a row is turned into a sample with. */
export type HfTools = {
  readonly context: LoadContext;
  /** For data sets whose prompts stand for a user's turn. */
  readonly template: ClientTemplate;
  /** The output length that a flag asks for, tokens; `null` = the data set's own. */
  readonly outputTokens: number | null;
  /** The path of a file that a row names. */
  file(name: string): Promise<string>;
};

/** A sample, why a row is left out on purpose, or what is wrong with it. */
export type HfOutcome = Sample | { readonly leftOut: string } | string;

/** One kind of data set on the hub: which ones, and how a row becomes a request. */
export type HfSet = {
  readonly name: string;
  readonly ids: readonly string[];
  /** A sentence for docs: what prompt and media are. */
  readonly doc: string;
  readonly subset: string | null;
  readonly split: string;
  /** The columns to read; others may hold much that is not needed. */
  readonly columns?: readonly string[];
  /** Its prompts are a user's turn: completions get them in the model's chat template. */
  readonly isTurn?: true;
  /** Output length where no flag gives one, for docs. */
  readonly outputDoc: string;
  /** Its files, where they do not follow the usual names; empty = as usual. */
  pick?(files: readonly string[], context: LoadContext): readonly string[];
  /** Takes one row of each file in turn. */
  readonly interleave?: true;
  /** Rows hold an image, a video or a sound, so that the endpoint must take some. */
  readonly media?: 'image_url' | 'video_url' | 'audio_url';
  sampleOf(row: Row, tools: HfTools): HfOutcome | Promise<HfOutcome>;
};
