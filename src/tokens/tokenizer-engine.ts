import { InputFileError, messageOf } from '../foundation/errors.ts';
import type { TokenizerParts } from './tokenizer-parts.ts';

/**
 * What is used of `@huggingface/tokenizers`. Written out here because the types it ships import each other
 * without file extensions, which Node's own resolution turns into `any`.
 */
export type TokenizerEngine = {
  encode(text: string, options: { add_special_tokens: boolean }): { ids: (number | undefined)[] };
  /** Throws for an empty list and for ids that have no token. */
  decode(ids: number[], options: { clean_up_tokenization_spaces: boolean }): string;
  token_to_id(token: string): number | undefined;
  id_to_token(id: number): string | undefined;
};

/**
 * The engine for a parsed tokenizer.
 * @param id whose it is, for error messages
 * @throws InputFileError where the parts do not make a tokenizer
 */
export async function tokenizerEngine(id: string, parts: TokenizerParts): Promise<TokenizerEngine> {
  // Lazy, because `--help` and runs without a tokenizer do not need it.
  const { Tokenizer } = await import('@huggingface/tokenizers');
  try {
    return new Tokenizer(parts.tokenizer, parts.config);
  } catch (cause) {
    throw new InputFileError(
      `The tokenizer of ${id} could not be built: ${messageOf(cause)}. ` +
        'Expected a tokenizer.json as the tokenizers library writes it; give another one with --tokenizer.',
      { cause },
    );
  }
}
