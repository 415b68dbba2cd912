import { type Random, randomStream } from '../foundation/random.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';
import { randomWords } from './random-prompt-maker.ts';

/** Turns the hash ids of a trace into text: equal ids into equal text, so that prompts share what they shared. */
export type ChunkTexts = {
  /** The first so many tokens of a chunk, as text. */
  text(hashId: string, tokens: number): string;
};

/** Enough that no two chunks are alike, few enough to be found at once. */
const wordsWanted = 4_096;
/** Ids tried before a vocabulary is taken to hold no words of one token. */
const maxTries = 40_000;

/**
 * Tokens that are a space and letters. Tokenizers split text before such words, so they stay one token each whatever
 * stands before and after, and chunks can be put side by side without changing each other's tokens.
 */
function wordsOf(tokenizer: Tokenizer): string[] {
  const random = randomStream(0, 'trace-words');
  const special = new Set(tokenizer.specialIds);
  const words = new Set<string>();
  for (let tries = 0; tries < maxTries && words.size < wordsWanted; tries += 1) {
    // Few words in many tries: a vocabulary of another kind, or a small one.
    if (tries === maxTries / 10 && words.size === 0) break;
    const id = random.integer(0, tokenizer.vocabSize - 1);
    const text = special.has(id) ? '' : tokenizer.decode([id]);
    if (/^ [A-Za-z]{2,}$/.test(text) && tokenizer.count(`${text}${text}`) === 2) words.add(text);
  }
  return [...words];
}

/** @param tokenizer `null` makes as many words as tokens were asked for */
export function chunkTexts(tokenizer: Tokenizer | null, seed: number): ChunkTexts {
  const words = tokenizer === null ? [] : wordsOf(tokenizer);
  const draw = (random: Random): string =>
    words.length > 0 ? (words[random.integer(0, words.length - 1)] ?? '') : ` ${randomWords(1, random)}`;
  return {
    text: (hashId, tokens) => {
      const random = randomStream(seed, `trace-chunk-${hashId}`);
      let text = '';
      for (let i = 0; i < tokens; i += 1) text += draw(random);
      return text;
    },
  };
}
