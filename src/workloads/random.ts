import type { Dataset, LoadContext } from './dataset.ts';
import { batched } from './random-batches.ts';
import { drawRandomLengths } from './random-lengths.ts';
import { randomTexts } from './random-texts.ts';
import type { Sample } from './sample.ts';

/** Prompts of the lengths that the `--random-…` flags ask for, one a request. */
export async function randomTextSamples(context: LoadContext): Promise<Sample[]> {
  const { tokenizer, options, numPrompts, seed } = context;
  const lengths = drawRandomLengths({
    inputTokens: options.randomInputLen,
    outputTokens: options.randomOutputLen,
    prefixTokens: options.randomPrefixLen,
    rangeRatio: options.randomRangeRatio,
    specialTokens: tokenizer?.specialTokensAdded ?? 0,
    numPrompts,
    seed,
    vocabSize: tokenizer?.vocabSize ?? 1,
  });
  const { bodyTokens, starts } = lengths;
  const texts = await randomTexts(context, { prefixTokens: options.randomPrefixLen, bodyTokens, starts });
  return texts.map(({ text, tokens }, index) => ({
    prompt: text,
    promptTokens: tokens,
    expectedOutputTokens: lengths.outputTokens[index] ?? null,
    media: [],
    requestId: `${context.requestIdPrefix}${index}`,
  }));
}

async function load(context: LoadContext): Promise<readonly Sample[]> {
  const samples = await randomTextSamples(context);
  const { randomBatchSize } = context.options;
  return randomBatchSize > 1 ? batched(samples, randomBatchSize, context.requestIdPrefix) : samples;
}

/** Prompts of random tokens with exact lengths: the default workload, which needs no file. */
export const random: Dataset = {
  name: 'random',
  doc: 'Random tokens, exact in length as the tokenizer counts; without a tokenizer, as many single words.',
  flags: [
    'random-input-len',
    'random-output-len',
    'random-prefix-len',
    'random-range-ratio',
    'random-batch-size',
  ],
  meaningless: true,
  load,
};
