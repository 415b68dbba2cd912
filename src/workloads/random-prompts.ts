import { setImmediate } from 'node:timers/promises';
import { randomStream } from '../foundation/random.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';
import { type RandomPrompt, randomPromptMaker } from './random-prompt-maker.ts';

/** To be raised whenever the same job would give other prompts: it names cache entries and checks threads. */
export const generatorVersion = 2;

/** Which prompts to make; plain data, so that it can go to a thread and name a cache entry. */
export type RandomPromptsJob = {
  readonly seed: number;
  /** Shared by all prompts. */
  readonly prefixTokens: number;
  /** Per prompt: which of several prefixes it begins with; absent = all with one. */
  readonly prefixes?: readonly number[];
  /** Per prompt: tokens after the prefix. */
  readonly bodyTokens: readonly number[];
  /** Per prompt: where in the vocabulary the body starts. */
  readonly starts: readonly number[];
};

/** How long the thread may be held before timers and signals get their turn. */
const sliceMs = 20;

/** The prefix of a prompt by its index, each made when it is first needed. */
export function prefixesOf<P>(
  make: (purpose: string) => P,
): (job: Pick<RandomPromptsJob, 'prefixes'>, index: number) => P {
  const made = new Map<number, P>();
  return ({ prefixes }, index) => {
    const which = prefixes?.[index] ?? 0;
    const known = made.get(which);
    if (known !== undefined) return known;
    const prefix = make(which === 0 ? 'random-prefix' : `random-prefix-${which}`);
    made.set(which, prefix);
    return prefix;
  };
}

/**
 * Makes the prompts of a job, about 7 ms per 1,024 tokens, giving way to timers and signals in between.
 * @param onProgress called now and then with the number made so far
 */
export async function makeRandomPrompts(
  tokenizer: Tokenizer,
  job: RandomPromptsJob,
  onProgress: (made: number) => void,
): Promise<RandomPrompt[]> {
  const maker = randomPromptMaker(tokenizer);
  const prefixIds = prefixesOf((purpose) => maker.prefix(job.prefixTokens, randomStream(job.seed, purpose)));
  const prompts: RandomPrompt[] = [];
  let sliceEnd = performance.now() + sliceMs;
  for (const [index, bodyTokens] of job.bodyTokens.entries()) {
    const random = randomStream(job.seed, `random-fill-${index}`);
    // The index is added so that equal draws still give different prompts, as in the reference.
    const start = (job.starts[index] ?? 0) + index;
    prompts.push(maker.make({ prefixIds: prefixIds(job, index), bodyTokens, start, random }));
    if (performance.now() < sliceEnd) continue;
    onProgress(prompts.length);
    await setImmediate();
    sliceEnd = performance.now() + sliceMs;
  }
  onProgress(prompts.length);
  return prompts;
}
