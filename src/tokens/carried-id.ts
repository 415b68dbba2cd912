import type { Tokenizer } from './tokenizer.ts';

/** The id of the vocabulary that the package carries. */
export const carriedId = 'Qwen3 (carried)';

/** Whether a tokenizer is the carried one, which stands in where the model's own is out of reach. */
export function isCarried(tokenizer: Tokenizer): boolean {
  return tokenizer.id === carriedId;
}
