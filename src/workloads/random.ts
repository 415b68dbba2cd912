import { randomStream } from '../foundation/random.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';
import type { Dataset, LoadContext } from './dataset.ts';
import { drawRandomLengths, type RandomLengthOptions } from './random-lengths.ts';
import { type RandomPrompt, randomWords } from './random-prompt-maker.ts';
import { makeRandomPrompts, type RandomPromptsJob } from './random-prompts.ts';
import { randomPromptsCache, randomPromptsKey } from './random-prompts-cache.ts';
import { makeRandomPromptsInThread } from './random-prompts-worker.ts';
import type { Sample } from './sample.ts';

/** Loads random prompts of exact token lengths. */
async function load(context: LoadContext): Promise<readonly Sample[]> {
  const { tokenizer, options, numPrompts, seed } = context;
  const lengths = drawRandomLengths({
    ...lengthOptions(context),
    numPrompts,
    seed,
    vocabSize: tokenizer?.vocabSize ?? 1,
  });
  const prompts =
    tokenizer === null
      ? wordPrompts(seed, options.randomPrefixLen, lengths.bodyTokens)
      : await tokenPrompts(context, tokenizer, lengths);
  return prompts.map(
    (prompt, index): Sample => ({
      prompt: prompt.text,
      promptTokens: prompt.tokens,
      expectedOutputTokens: lengths.outputTokens[index] ?? null,
      media: [],
      requestId: `${context.requestIdPrefix}${index}`,
    }),
  );
}

function lengthOptions({ options, tokenizer }: LoadContext): RandomLengthOptions {
  return {
    inputTokens: options.randomInputLen,
    outputTokens: options.randomOutputLen,
    prefixTokens: options.randomPrefixLen,
    rangeRatio: options.randomRangeRatio,
    specialTokens: tokenizer?.specialTokensAdded ?? 0,
  };
}

async function tokenPrompts(
  context: LoadContext,
  tokenizer: Tokenizer,
  lengths: { readonly bodyTokens: readonly number[]; readonly starts: readonly number[] },
): Promise<readonly RandomPrompt[]> {
  const { options, numPrompts, seed } = context;
  const prefixTokens = options.randomPrefixLen;
  const job = { seed, prefixTokens, bodyTokens: lengths.bodyTokens, starts: lengths.starts };
  const prompts = await obtainPrompts(context, tokenizer, job);
  const off = prompts.map(({ tokens }, i) => tokens - prefixTokens - (lengths.bodyTokens[i] ?? 0));
  const wrong = off.filter((tokens) => tokens !== 0);
  if (wrong.length > 0)
    context.note(
      `random: ${wrong.length} of ${numPrompts} prompts do not have the length asked for ` +
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
function wordPrompts(
  seed: number,
  prefixWords: number,
  bodyWords: readonly number[],
): { readonly text: string; readonly tokens: null }[] {
  const prefix = randomWords(prefixWords, randomStream(seed, 'random-prefix'));
  return bodyWords.map((words, index) => {
    const body = randomWords(words, randomStream(seed, `random-fill-${index}`));
    return { text: [prefix, body].filter((part) => part !== '').join(' '), tokens: null };
  });
}

/** Prompts of random tokens with exact lengths: the default workload, which needs no file. */
export const random: Dataset = {
  name: 'random',
  doc: 'Random tokens, exact in length as the tokenizer counts; without a tokenizer, as many single words.',
  flags: ['random-input-len', 'random-output-len', 'random-prefix-len', 'random-range-ratio'],
  load,
};
