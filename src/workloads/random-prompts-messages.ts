import type { TokenizerSource } from '../tokens/tokenizer.ts';
import type { RandomPrompt } from './random-prompt-maker.ts';
import type { RandomPromptsJob } from './random-prompts.ts';

/** What the prompt thread is started with. */
export type RandomPromptsOrder = {
  /** {@link generatorVersion} of whoever asks; a thread built from older sources must not answer. */
  readonly version: number;
  readonly source: TokenizerSource;
  readonly job: RandomPromptsJob;
};

/** What the prompt thread says. */
export type RandomPromptsReport =
  | { readonly kind: 'outdated' }
  | { readonly kind: 'progress'; readonly made: number }
  | { readonly kind: 'done'; readonly prompts: readonly RandomPrompt[] };
