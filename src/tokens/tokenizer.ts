/** The parts a tokenizer may be made of; which of them exist depends on how the model was published. */
export type TokenizerFileRole =
  | 'bundle'
  | 'tokenizer'
  | 'vocabulary'
  | 'merges'
  | 'config'
  | 'chatTemplate'
  | 'chatTemplateJson';

/**
 * Where a tokenizer's files lie, so that another thread can load the same one.
 * `bundle` is the carried vocabulary (brotli); `vocabulary` and `merges` are the pair that models without a
 * tokenizer.json publish.
 */
export type TokenizerSource = {
  /** How it was named: a path, a hub id, or the carried vocabulary's name. */
  readonly id: string;
  readonly files: Readonly<Partial<Record<TokenizerFileRole, string>>>;
};

/** What the project asks of a tokenizer. Ids are those of the model's own vocabulary. */
export type Tokenizer = {
  /** How it was named: a path, a hub id, or the carried vocabulary's name. */
  readonly id: string;
  /** Absent where it was made in memory, so that no other thread can load it. */
  readonly source?: TokenizerSource;
  encode(text: string, options?: { readonly addSpecialTokens?: boolean }): number[];
  decode(ids: readonly number[], options?: { readonly skipSpecialTokens?: boolean }): string;
  /** Tokens of a text; special tokens are added only on request. */
  count(text: string, options?: { readonly addSpecialTokens?: boolean }): number;
  /** Entries of the base vocabulary, ids 0…vocabSize−1; tokens that were added on top of it do not count. */
  readonly vocabSize: number;
  /** Ids of special tokens, ascending. */
  readonly specialIds: readonly number[];
  /** Special tokens that `encode` adds to a single text when asked to. */
  readonly specialTokensAdded: number;
  /** The rendered chat template, or `null` where the tokenizer has none. */
  renderChat(
    messages: readonly { readonly role: string; readonly content: string }[],
    options?: { readonly addGenerationPrompt?: boolean; readonly extra?: Readonly<Record<string, unknown>> },
  ): string | null;
};
