import { type Random, randomStream } from '../foundation/random.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';

/** A text and its length as the tokenizer counts it, without special tokens. */
export type RandomPrompt = { readonly text: string; readonly tokens: number };

export type RandomPromptRequest = {
  /** From {@link RandomPromptMaker.prefix}; the prompt starts with these tokens. */
  readonly prefixIds: readonly number[];
  readonly bodyTokens: number;
  /** Where in the allowed ids the body starts; it runs on with the ids that follow. */
  readonly start: number;
  /** For tokens that are missing after re-encoding. */
  readonly random: Random;
};

/** Makes prompts of random tokens that a server with the same tokenizer counts as exactly so many. */
export type RandomPromptMaker = {
  /** Random tokens that survive decoding and encoding as they are. */
  prefix(tokens: number, random: Random): number[];
  make(request: RandomPromptRequest): RandomPrompt;
};

/** As many rounds as the reference makes; nearly all prompts need one or two. */
const maxRounds = 10;
/** Starts tried before a body is let touch the prefix's last token. */
const maxStarts = 64;
/** Texts of which one is a single token, alone and repeated, in nearly any vocabulary. */
const fillerCandidates = [' the', ' a', ' x', 'a ', '的', '!'];

type Fitted = { readonly text: string; readonly ids: readonly number[] };

/** A text that is one token however often it stands in a row, or `null`. */
function findFiller(tokenizer: Tokenizer): string | null {
  const filler = fillerCandidates.find((text) =>
    [1, 2, 7].every((n) => tokenizer.count(text.repeat(n)) === n),
  );
  return filler ?? null;
}

function startsWith(ids: readonly number[], prefix: readonly number[]): boolean {
  return ids.length >= prefix.length && prefix.every((id, i) => ids[i] === id);
}

/** @throws Error for a tokenizer whose vocabulary is all special */
export function randomPromptMaker(tokenizer: Tokenizer): RandomPromptMaker {
  const special = new Set(tokenizer.specialIds);
  const allowed: number[] = [];
  for (let id = 0; id < tokenizer.vocabSize; id += 1) if (!special.has(id)) allowed.push(id);
  if (allowed.length === 0) throw new Error(`The vocabulary of ${tokenizer.id} has no ordinary tokens`);
  let filler: string | null | undefined;

  const allowedAt = (index: number): number => allowed[index % allowed.length] ?? 0;
  const draw = (random: Random, count: number): number[] =>
    Array.from({ length: count }, () => allowedAt(random.integer(0, allowed.length - 1)));
  const run = (start: number, count: number): number[] =>
    Array.from({ length: count }, (_, j) => allowedAt(start + j));
  const encoded = (text: string): Fitted => ({ text, ids: tokenizer.encode(text) });

  /** Cuts further and further back and fills up with a token that never merges. */
  const filled = (ids: readonly number[], target: number): Fitted | null => {
    if (filler === undefined) filler = findFiller(tokenizer);
    if (filler === null) return null;
    for (let cut = target; cut >= Math.max(0, target - maxStarts); cut -= 1) {
      const head = tokenizer.decode(ids.slice(0, cut));
      const missing = target - tokenizer.count(head);
      if (missing < 0) continue;
      const fitted = encoded(head + filler.repeat(missing));
      if (fitted.ids.length === target) return fitted;
    }
    return null;
  };

  /** Tokens of random ids merge or split when their text is encoded again: cut or add until the length is right. */
  const fitToLength = (ids: readonly number[], random: Random): Fitted => {
    const target = ids.length;
    let fitted = encoded(tokenizer.decode(ids));
    for (let round = 0; round < maxRounds && fitted.ids.length !== target; round += 1) {
      const missing = Math.max(0, target - fitted.ids.length);
      fitted = encoded(tokenizer.decode([...fitted.ids.slice(0, target), ...draw(random, missing)]));
    }
    return fitted.ids.length === target ? fitted : (filled(fitted.ids, target) ?? fitted);
  };

  const isClean = (prefixIds: readonly number[], start: number, bodyTokens: number): boolean => {
    const tail = prefixIds.slice(-8);
    const joined = [...tail, ...run(start, Math.min(4, bodyTokens))];
    return startsWith(tokenizer.encode(tokenizer.decode(joined)), tail);
  };

  /**
   * A start whose first tokens do not merge with the prefix's last ones: the first at or after the given one, else one
   * from elsewhere, since neighbours in a vocabulary are alike (a run of letters may all merge).
   */
  const cleanStart = (
    prefixIds: readonly number[],
    start: number,
    bodyTokens: number,
    random: Random,
  ): number => {
    for (let tried = 0; tried < maxStarts; tried += 1)
      if (isClean(prefixIds, start + tried, bodyTokens)) return start + tried;
    for (let tried = 0; tried < maxStarts; tried += 1) {
      const elsewhere = random.integer(0, allowed.length - 1);
      if (isClean(prefixIds, elsewhere, bodyTokens)) return elsewhere;
    }
    return start;
  };

  return {
    prefix: (tokens, random) => [...fitToLength(draw(random, tokens), random).ids],
    make: ({ prefixIds, bodyTokens, start, random }) => {
      if (bodyTokens === 0) return { text: tokenizer.decode(prefixIds), tokens: prefixIds.length };
      let from = start;
      let fitted: Fitted = { text: '', ids: [] };
      for (let tried = 0; tried < maxRounds; tried += 1) {
        if (prefixIds.length > 0) from = cleanStart(prefixIds, from, bodyTokens, random);
        fitted = fitToLength([...prefixIds, ...run(from, bodyTokens)], random);
        if (startsWith(fitted.ids, prefixIds)) break;
        from += 1;
      }
      return { text: fitted.text, tokens: fitted.ids.length };
    },
  };
}

/** Words that are one token each in most vocabularies, for prompts without a tokenizer. */
const plainWords = (
  'time year people way day man thing woman life child world school state family student group country problem ' +
  'hand part place case week company system program question work government number night point home water room ' +
  'mother area money story fact month lot right study book eye job word business issue side kind head house ' +
  'service friend father power hour game line end member law car city community name president team minute idea'
).split(' ');

/** So many single words; how many tokens they are, only a tokenizer could say. */
export function randomWords(count: number, random: Random): string {
  return Array.from({ length: count }, () => plainWords[random.integer(0, plainWords.length - 1)]).join(' ');
}

/**
 * One random prompt, for probes and warm-ups.
 * @param options.tokenizer `null` makes words instead, whose token count is `null`
 * @param options.tokens length, ≥ 1
 * @param options.purpose tells independent prompts of one seed apart, e.g. `warmup-3`
 */
export function makeRandomPrompt(options: {
  readonly tokenizer: Tokenizer | null;
  readonly tokens: number;
  readonly seed: number;
  readonly purpose: string;
}): { readonly text: string; readonly tokens: number | null } {
  const { tokenizer, tokens } = options;
  const random = randomStream(options.seed, options.purpose);
  if (tokenizer === null) return { text: randomWords(tokens, random), tokens: null };
  const start = random.integer(0, Math.max(0, tokenizer.vocabSize - 1));
  return randomPromptMaker(tokenizer).make({ prefixIds: [], bodyTokens: tokens, start, random });
}
