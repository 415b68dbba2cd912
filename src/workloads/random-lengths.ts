import { UsageError } from '../foundation/errors.ts';
import { randomStream } from '../foundation/random.ts';

/** Lengths asked for, in tokens. */
export type RandomLengthOptions = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly prefixTokens: number;
  readonly rangeRatio: { readonly input: number; readonly output: number };
  /** Special tokens that the server will add to each prompt; they count as input. */
  readonly specialTokens: number;
};

/** Both ends inclusive. */
export type TokenRange = { readonly low: number; readonly high: number };

/** 10·(1 + 0.1) is 11.000000000000002 in floats; without the slack its ceiling would be 12. */
const slack = 1e-9;

/** Four times the longest context that any model has; more is a slip of the keyboard that would fill the memory. */
const mostPromptTokens = 1 << 24;

/** A symmetric range around a length: ⌊L·(1−r)⌋ … ⌈L·(1+r)⌉. */
function rangeAround(tokens: number, ratio: number): TokenRange {
  return { low: Math.floor(tokens * (1 - ratio) + slack), high: Math.ceil(tokens * (1 + ratio) - slack) };
}

function checkRatio(ratio: number, which: string): void {
  if (ratio >= 0 && ratio < 1) return;
  throw new UsageError(
    `--random-range-ratio is ${ratio} for ${which}; expected a number in [0, 1). ` +
      'Lengths are uniform in L·(1 − ratio) … L·(1 + ratio), so 0 means that all are equal.',
  );
}

/**
 * The ranges lengths are drawn from. Input is the part after the prefix, without special tokens.
 * @throws UsageError for a ratio outside [0, 1) or an input that would leave an empty prompt
 */
export function randomLengthRanges(options: RandomLengthOptions): { input: TokenRange; output: TokenRange } {
  const { inputTokens, outputTokens, prefixTokens, rangeRatio, specialTokens } = options;
  checkRatio(rangeRatio.input, 'input');
  checkRatio(rangeRatio.output, 'output');
  const input = rangeAround(Math.max(0, inputTokens - specialTokens), rangeRatio.input);
  const output = rangeAround(outputTokens, rangeRatio.output);
  if (prefixTokens + input.high > mostPromptTokens)
    throw new UsageError(
      `--random-input-len ${inputTokens} with prefix ${prefixTokens} and range ratio ${rangeRatio.input} makes prompts of ` +
        `up to ${prefixTokens + input.high} tokens; no model reads more than ${mostPromptTokens}.`,
    );
  if (prefixTokens + input.low < 1)
    throw new UsageError(
      `--random-input-len is too small: ${inputTokens} tokens less ${specialTokens} special tokens that the ` +
        `tokenizer adds, with range ratio ${rangeRatio.input} and prefix ${prefixTokens}, can leave an empty ` +
        'prompt. Raise --random-input-len or --random-prefix-len, or lower --random-range-ratio.',
    );
  return { input, output: { low: Math.max(1, output.low), high: Math.max(1, output.high) } };
}

/** Drawn lengths, one entry per request. */
export type RandomLengths = {
  /** Tokens after the prefix. */
  readonly bodyTokens: number[];
  readonly outputTokens: number[];
  /** Where in the vocabulary each body starts, uniform in [0, vocabSize). */
  readonly starts: number[];
};

/**
 * Draws all lengths, each kind from a stream of its own: request `i` is the same however many requests there are.
 * @throws UsageError as {@link randomLengthRanges}
 */
export function drawRandomLengths(
  options: RandomLengthOptions & {
    readonly numPrompts: number;
    readonly vocabSize: number;
    readonly seed: number;
    /** Tells independent draws of one seed apart. */
    readonly purpose?: string;
  },
): RandomLengths {
  const { purpose: kind = 'random' } = options;
  const { input, output } = randomLengthRanges(options);
  const draw = (purpose: string, { low, high }: TokenRange): number[] => {
    const random = randomStream(options.seed, purpose);
    return Array.from({ length: options.numPrompts }, () => random.integer(low, high));
  };
  return {
    bodyTokens: draw(`${kind}-input-lengths`, input),
    outputTokens: draw(`${kind}-output-lengths`, output),
    starts: draw(`${kind}-starts`, { low: 0, high: Math.max(0, options.vocabSize - 1) }),
  };
}
