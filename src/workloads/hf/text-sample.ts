import { type Row, wrongField } from '../row-value.ts';
import type { ContentPart, Sample } from '../sample.ts';
import { isValidSequence } from '../sharegpt.ts';
import type { HfOutcome, HfTools } from './hf-set.ts';

/** Text in a row's field, or what is wrong with it. */
export function textField(row: Row, field: string): { readonly text: string } | string {
  const value = row[field];
  return typeof value === 'string' ? { text: value } : wrongField(field, value, 'text');
}

/** Texts in a row's fields, or what is wrong with the first that is none. */
export function textFields<F extends string>(row: Row, ...fields: readonly F[]): Record<F, string> | string {
  const texts: Partial<Record<F, string>> = {};
  for (const field of fields) {
    const found = textField(row, field);
    if (typeof found === 'string') return found;
    texts[field] = found.text;
  }
  return texts as Record<F, string>;
}

/** Tokens of a text with special tokens, as the reference counts them; `null` without a tokenizer. */
export function tokensOf(text: string, { context }: HfTools): number | null {
  return context.tokenizer?.count(text, { addSpecialTokens: true }) ?? null;
}

/** A prompt as it is sent, with media. */
export function plainSample(
  prompt: string,
  outputTokens: number | null,
  tools: HfTools,
  media: readonly ContentPart[] = [],
): Sample {
  return {
    prompt,
    promptTokens: tokensOf(prompt, tools),
    expectedOutputTokens: outputTokens,
    media,
    requestId: null,
  };
}

/** A prompt that stands for a user's turn: in the chat template where the endpoint takes plain text. */
export function userSample(prompt: string, outputTokens: number | null, tools: HfTools): Sample {
  const sent = tools.template.apply?.([{ role: 'user', content: prompt }]) ?? prompt;
  return plainSample(sent, outputTokens, tools);
}

/**
 * A prompt whose answer is known, so that it says how long the answer is to be; sequences that are too short or too long
 * are left out, unless a flag gives the output length.
 */
export function answeredSample(
  sample: Sample,
  answer: string,
  tools: HfTools,
  limits?: { readonly promptTokens: number; readonly totalTokens: number },
): HfOutcome {
  const asked = tools.outputTokens;
  const outputTokens = asked ?? tokensOf(answer, tools);
  const { promptTokens } = sample;
  const fits =
    asked !== null ||
    promptTokens === null ||
    outputTokens === null ||
    isValidSequence({ promptTokens, outputTokens, outputIsAskedFor: false, ...(limits && { limits }) });
  return fits ? { ...sample, expectedOutputTokens: outputTokens } : { leftOut: 'by length' };
}
