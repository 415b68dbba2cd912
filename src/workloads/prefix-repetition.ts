import { UsageError } from '../foundation/errors.ts';
import { randomStream, shuffled } from '../foundation/random.ts';
import type { Dataset, LoadContext } from './dataset.ts';
import { withRequestIds } from './oversample.ts';
import { randomTexts } from './random-texts.ts';
import type { Sample } from './sample.ts';

/** @throws UsageError where there are more prefixes than prompts */
function promptsPerPrefix({ options, numPrompts, note }: LoadContext): number {
  const { numPrefixes } = options.prefixRepetition;
  const each = Math.floor(numPrompts / numPrefixes);
  if (each === 0)
    throw new UsageError(
      `--num-prompts (${numPrompts}) must be at least --prefix-repetition-num-prefixes (${numPrefixes}), so that ` +
        'each prefix is used.',
    );
  const rest = numPrompts - each * numPrefixes;
  if (rest > 0)
    note(
      `prefix_repetition: ${each * numPrefixes} requests instead of ${numPrompts}: ${each} for each of ` +
        `${numPrefixes} prefixes.`,
    );
  return each;
}

async function load(context: LoadContext): Promise<readonly Sample[]> {
  const { options, seed, tokenizer, requestIdPrefix } = context;
  const { prefixLen, suffixLen, numPrefixes, outputLen } = options.prefixRepetition;
  const count = promptsPerPrefix(context) * numPrefixes;
  const perPrefix = count / numPrefixes;
  const random = randomStream(seed, 'prefix-repetition-starts');
  const vocabSize = tokenizer?.vocabSize ?? 1;
  const texts = await randomTexts(context, {
    prefixTokens: prefixLen,
    prefixes: Array.from({ length: count }, (_, index) => Math.floor(index / perPrefix)),
    bodyTokens: Array.from({ length: count }, () => suffixLen),
    starts: Array.from({ length: count }, () => random.integer(0, vocabSize - 1)),
  });
  const ordered = options.disableShuffle
    ? texts
    : shuffled(randomStream(seed, 'prefix_repetition-order'), texts);
  const samples = ordered.map(({ text, tokens }) => ({
    prompt: text,
    promptTokens: tokens,
    expectedOutputTokens: outputLen,
    media: [],
    requestId: null,
  }));
  return withRequestIds(samples, requestIdPrefix);
}

/** Random prompts of which groups begin alike, to see what a prefix cache does. */
export const prefixRepetition: Dataset = {
  name: 'prefix_repetition',
  doc: 'Random tokens, a number of shared prefixes with a suffix of its own for each prompt.',
  flags: [
    'disable-shuffle',
    'prefix-repetition-prefix-len',
    'prefix-repetition-suffix-len',
    'prefix-repetition-num-prefixes',
    'prefix-repetition-output-len',
  ],
  load,
};
