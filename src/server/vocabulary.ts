import { randomStream } from '../foundation/random.ts';
import { carriedTokenizer } from '../tokens/carried-tokenizer.ts';

/** What the server must know of the model's tokens. */
export type Vocabulary = {
  readonly countTokens: (text: string) => number;
  /** Parts of a text that are a token each. */
  readonly split: (text: string) => readonly string[];
};

/** Parts of a text that are about a token each: a word with the blank before it, or a mark. */
function roughParts(text: string): string[] {
  return text.match(/\s*[\p{L}\p{N}_]+|\s*[^\s\p{L}\p{N}_]|\s+$/gu) ?? [];
}

/** A vocabulary of which only the counting is known. */
export function countedVocabulary(countTokens: (text: string) => number): Vocabulary {
  return { countTokens, split: roughParts };
}

/** The carried vocabulary, warm: the first prompts would else be counted several times slower. */
export async function carriedVocabulary(): Promise<Vocabulary> {
  const tokenizer = await carriedTokenizer();
  const random = randomStream(0, 'tokenizer warm-up');
  for (let round = 0; round < 4; round += 1) {
    const ids = Array.from({ length: 500 }, () => random.integer(0, tokenizer.vocabSize - 1));
    tokenizer.count(tokenizer.decode(ids));
  }
  return {
    countTokens: (text) => tokenizer.count(text),
    split(text) {
      const parts = tokenizer.encode(text).map((id) => tokenizer.decode([id]));
      // A character of several tokens has no text of its own per token.
      return parts.join('') === text ? parts : roughParts(text);
    },
  };
}
