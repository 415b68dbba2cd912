import { InputFileError, UsageError } from '../foundation/errors.ts';
import { randomStream, shuffled } from '../foundation/random.ts';
import type { Dataset, LoadContext } from './dataset.ts';
import { DatasetRowError, type EntryFile, openEntryFile } from './entry-file.ts';
import { oversampled, withRequestIds } from './oversample.ts';
import { isRow, type Row, wrongField } from './row-value.ts';
import type { ContentPart, Sample } from './sample.ts';

/** The reference's limits for a conversation that a model of any size can serve. */
const minTokens = 4;
const maxPromptTokens = 1024;
const maxTotalTokens = 2048;

/**
 * Whether a sequence is neither too short to measure nor too long for common servers.
 * @param lengths.outputIsAskedFor an output length from a flag is not too short, whatever it is
 */
export function isValidSequence(lengths: {
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly outputIsAskedFor: boolean;
  /** Longest prompt, and prompt with answer, tokens. */
  readonly limits?: { readonly promptTokens: number; readonly totalTokens: number };
}): boolean {
  const { promptTokens, outputTokens, outputIsAskedFor } = lengths;
  const limits = lengths.limits ?? { promptTokens: maxPromptTokens, totalTokens: maxTotalTokens };
  if (promptTokens < minTokens || promptTokens > limits.promptTokens) return false;
  if (!outputIsAskedFor && outputTokens < minTokens) return false;
  return promptTokens + outputTokens <= limits.totalTokens;
}

/** A conversation's first two turns, or why the row has none. */
type Turns =
  | { readonly kind: 'turns'; readonly prompt: string; readonly answer: string; readonly row: Row }
  | { readonly kind: 'too-few' }
  | { readonly kind: 'wrong'; readonly message: string };

function turnsOf(row: unknown): Turns {
  if (!isRow(row)) return { kind: 'wrong', message: wrongField('entry', row, 'an object') };
  const turns = row.conversations;
  if (turns === undefined) return { kind: 'too-few' };
  if (!Array.isArray(turns)) return { kind: 'wrong', message: wrongField('conversations', turns, 'a list') };
  if (turns.length < 2) return { kind: 'too-few' };
  const [prompt, answer] = turns.map((turn) => (isRow(turn) ? turn.value : undefined));
  if (typeof prompt !== 'string')
    return { kind: 'wrong', message: wrongField('conversations[0].value', prompt, 'text') };
  if (typeof answer !== 'string')
    return { kind: 'wrong', message: wrongField('conversations[1].value', answer, 'text') };
  return { kind: 'turns', prompt, answer, row };
}

/** Web addresses and data URLs stand as they are; anything else is a path on the server's side. */
function mediaUrl(reference: string): string {
  return /^(https?|file|data):/.test(reference) ? reference : `file://${reference}`;
}

function mediaOf(row: Row): ContentPart[] | string {
  const parts: ContentPart[] = [];
  for (const kind of ['image', 'video'] as const) {
    const reference = row[kind];
    if (reference === undefined || reference === null) continue;
    if (typeof reference !== 'string') return wrongField(kind, reference, 'a URL or a path');
    parts.push({ type: `${kind}_url`, [`${kind}_url`]: { url: mediaUrl(reference) } });
  }
  return parts;
}

type LeftOut = { looked: number; tooFew: number; lengths: number; invalid: number };

/** The sample of a row, `null` where the row is left out; what is left out is counted. */
async function sampleOf(
  file: EntryFile,
  index: number,
  run: { readonly context: LoadContext; readonly leftOut: LeftOut },
): Promise<Sample | null> {
  const { options, tokenizer } = run.context;
  const turns = turnsOf(await file.read(index));
  if (turns.kind === 'too-few') {
    run.leftOut.tooFew += 1;
    return null;
  }
  if (turns.kind === 'wrong') throw await file.error(index, turns.message);
  const media = mediaOf(turns.row);
  if (typeof media === 'string') throw await file.error(index, media);
  // Both with special tokens, as the reference counts them.
  const counted = (text: string): number | null => tokenizer?.count(text, { addSpecialTokens: true }) ?? null;
  const promptTokens = counted(turns.prompt);
  const outputTokens = options.sharegptOutputLen ?? counted(turns.answer);
  const outputIsAskedFor = options.sharegptOutputLen !== null;
  if (
    promptTokens !== null &&
    outputTokens !== null &&
    !isValidSequence({ promptTokens, outputTokens, outputIsAskedFor })
  ) {
    run.leftOut.lengths += 1;
    return null;
  }
  return { prompt: turns.prompt, promptTokens, expectedOutputTokens: outputTokens, media, requestId: null };
}

function sayLeftOut(context: LoadContext, { looked, tooFew, lengths, invalid }: LeftOut): void {
  const reasons = [
    tooFew > 0 ? `${tooFew} with fewer than two turns` : '',
    lengths > 0
      ? `${lengths} by length (kept: prompt ${minTokens}…${maxPromptTokens} tokens, answer from ${minTokens}, ` +
        `together up to ${maxTotalTokens})`
      : '',
    invalid > 0 ? `${invalid} that do not parse` : '',
  ].filter((reason) => reason !== '');
  if (reasons.length === 0) return;
  const total = tooFew + lengths + invalid;
  context.note(`sharegpt: ${total} of ${looked} conversations were left out: ${reasons.join(', ')}.`);
}

async function takeSamples(file: EntryFile, context: LoadContext): Promise<Sample[]> {
  const { options, numPrompts, seed } = context;
  const inOrder = Array.from({ length: file.count }, (_, index) => index);
  const order = options.disableShuffle ? inOrder : shuffled(randomStream(seed, 'sharegpt-order'), inOrder);
  const leftOut: LeftOut = { looked: 0, tooFew: 0, lengths: 0, invalid: 0 };
  const samples: Sample[] = [];
  for (const index of order) {
    if (samples.length >= numPrompts) break;
    leftOut.looked += 1;
    try {
      const sample = await sampleOf(file, index, { context, leftOut });
      if (sample !== null) samples.push(sample);
    } catch (error) {
      if (!options.skipInvalid || !(error instanceof DatasetRowError)) throw error;
      leftOut.invalid += 1;
    }
    if (leftOut.looked % 100 === 0) context.progress(samples.length, numPrompts);
  }
  sayLeftOut(context, leftOut);
  return samples;
}

async function load(context: LoadContext): Promise<readonly Sample[]> {
  const { options, tokenizer, requestIdPrefix } = context;
  if (options.path === null)
    throw new UsageError(
      '--dataset-name sharegpt needs --dataset-path: a JSON file in the ShareGPT form, a list of ' +
        '{"conversations": [{"from": "human", "value": "…"}, {"from": "gpt", "value": "…"}]}.',
    );
  if (tokenizer === null && options.sharegptOutputLen === null)
    context.note(
      'sharegpt: without a tokenizer the length of answers is left to the server and no conversation is left ' +
        'out by its length; --sharegpt-output-len sets one.',
    );
  const file = await openEntryFile(options.path);
  try {
    const samples = await takeSamples(file, context);
    if (samples.length === 0)
      throw new InputFileError(
        `${options.path}: none of its ${file.count} entries makes a request. Expected "conversations" with two ` +
          `turns or more, whose prompt has ${minTokens} to ${maxPromptTokens} tokens.`,
      );
    return oversampled(withRequestIds(samples, requestIdPrefix), context);
  } finally {
    await file.close();
  }
}

/** First turns of recorded conversations, as long as their recorded answers. */
export const sharegpt: Dataset = {
  name: 'sharegpt',
  doc: 'First turns of recorded conversations (JSON in the ShareGPT form), with answers as long as recorded.',
  flags: ['dataset-path', 'disable-shuffle', 'no-oversample', 'skip-invalid', 'sharegpt-output-len'],
  load,
};
