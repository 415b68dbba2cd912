import { randomStream } from '../foundation/random.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';
import type { LoadContext } from './dataset.ts';
import { type RandomPrompt, randomWords } from './random-prompt-maker.ts';
import { makeRandomPrompts, prefixesOf, type RandomPromptsJob } from './random-prompts.ts';
import { randomPromptsCache, randomPromptsKey } from './random-prompts-cache.ts';
import { makeRandomPromptsInThread } from './random-prompts-worker.ts';

/** A text, and its length as the tokenizer counts it; `null` where there is none. */
export type RandomText = { readonly text: string; readonly tokens: number | null };

/** Texts of exactly the lengths asked for; without a tokenizer, of as many single words. */
export async function randomTexts(
  context: LoadContext,
  job: Omit<RandomPromptsJob, 'seed'>,
): Promise<readonly RandomText[]> {
  const { tokenizer, seed } = context;
  if (tokenizer !== null) return await tokenTexts(context, tokenizer, { ...job, seed });
  return wordTexts({ ...job, seed });
}

async function tokenTexts(
  context: LoadContext,
  tokenizer: Tokenizer,
  job: RandomPromptsJob,
): Promise<readonly RandomText[]> {
  const { prefixTokens, bodyTokens } = job;
  const prompts = await obtainPrompts(context, tokenizer, job);
  const off = prompts.map(({ tokens }, i) => tokens - prefixTokens - (bodyTokens[i] ?? 0));
  const wrong = off.filter((tokens) => tokens !== 0);
  if (wrong.length > 0)
    context.note(
      `${context.options.name}: ${wrong.length} of ${prompts.length} prompts do not have the length asked for ` +
        `(${wrong.reduce((sum, tokens) => sum + Math.abs(tokens), 0)} tokens in all), because ${tokenizer.id} ` +
        'encodes their text differently. The lengths that they really have are reported.',
    );
  return prompts;
}

/** Loading a tokenizer into a thread takes as long as this many tokens take here. */
const inProcessTokens = 50_000;

/** From the cache, else from a thread, else from here. */
async function obtainPrompts(
  context: LoadContext,
  tokenizer: Tokenizer,
  job: RandomPromptsJob,
): Promise<readonly RandomPrompt[]> {
  const onProgress = (made: number): void => context.progress(made, job.bodyTokens.length);
  const tokens = job.bodyTokens.reduce((sum, body) => sum + job.prefixTokens + body, 0);
  const { source } = tokenizer;
  if (source === undefined || tokens <= inProcessTokens) return makeRandomPrompts(tokenizer, job, onProgress);
  const cache = randomPromptsCache({ env: context.env ?? process.env, note: context.note });
  const key = await randomPromptsKey(source, job);
  const kept = await cache?.read(key);
  if (kept?.length === job.bodyTokens.length) return kept;
  const prompts =
    (await makeRandomPromptsInThread({ source, job, onProgress })) ??
    (await makeRandomPrompts(tokenizer, job, onProgress));
  await cache?.write(key, prompts);
  return prompts;
}

/** Without a tokenizer: as many words as tokens were asked for. */
function wordTexts(job: RandomPromptsJob): RandomText[] {
  const prefix = prefixesOf((purpose) => randomWords(job.prefixTokens, randomStream(job.seed, purpose)));
  return job.bodyTokens.map((words, index) => {
    const body = randomWords(words, randomStream(job.seed, `random-fill-${index}`));
    return { text: [prefix(job, index), body].filter((part) => part !== '').join(' '), tokens: null };
  });
}
