import { type Random, randomStream } from '../foundation/random.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';
import { randomWords } from './random-prompt-maker.ts';

/** Turns the hash ids of a trace into text: equal ids into equal text, so that prompts share what they shared. */
export type ChunkTexts = {
  /** The first so many tokens of a chunk, as text. */
  text(hashId: string, tokens: number): string;
};

/** Ids tried before a vocabulary is taken to hold no words of one token. */
const maxTries = 2_000;

/**
 * Draws tokens that are a space and letters. Tokenizers split text before such words, so they stay one token each
 * whatever stands before and after, and chunks can be put side by side without changing each other's tokens.
 */
function wordDrawer(tokenizer: Tokenizer): (random: Random) => string {
  const known = new Map<number, string | null>();
  const special = new Set(tokenizer.specialIds);
  const wordOf = (id: number): string | null => {
    const seen = known.get(id);
    if (seen !== undefined) return seen;
    const text = special.has(id) ? '' : tokenizer.decode([id]);
    const isWord = /^ [A-Za-z]{2,}$/.test(text) && tokenizer.count(`${text}${text}`) === 2;
    known.set(id, isWord ? text : null);
    return isWord ? text : null;
  };
  let hasWords = true;
  return (random) => {
    for (let tries = 0; hasWords && tries < maxTries; tries += 1) {
      const word = wordOf(random.integer(0, tokenizer.vocabSize - 1));
      if (word !== null) return word;
    }
    hasWords = false;
    return ` ${randomWords(1, random)}`;
  };
}

/** @param tokenizer `null` makes as many words as tokens were asked for */
export function chunkTexts(tokenizer: Tokenizer | null, seed: number): ChunkTexts {
  const draw = tokenizer === null ? (random: Random) => ` ${randomWords(1, random)}` : wordDrawer(tokenizer);
  return {
    text: (hashId, tokens) => {
      const random = randomStream(seed, `trace-chunk-${hashId}`);
      return Array.from({ length: tokens }, () => draw(random)).join('');
    },
  };
}
