/** What the project asks of a tokenizer. Ids are those of the model's own vocabulary. */
export type Tokenizer = {
  /** How it was named: a path, a hub id, or the carried vocabulary's name. */
  readonly id: string;
  encode(text: string, options?: { readonly addSpecialTokens?: boolean }): number[];
  decode(ids: readonly number[], options?: { readonly skipSpecialTokens?: boolean }): string;
  /** Tokens of a text; special tokens are added only on request. */
  count(text: string, options?: { readonly addSpecialTokens?: boolean }): number;
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
