import { InputFileError, UsageError } from '../foundation/errors.ts';
import { randomStream, shuffled } from '../foundation/random.ts';
import { type ClientTemplate, clientTemplate } from './client-template.ts';
import { type CustomRow, messageText, parseCustomRow } from './custom-row.ts';
import type { Dataset, LoadContext } from './dataset.ts';
import { DatasetRowError, type EntryFile, openEntryFile } from './entry-file.ts';
import { oversampled, withRequestIds } from './oversample.ts';
import type { Sample } from './sample.ts';

const form = 'one JSON object per line with "prompt", and optionally "output_tokens"';

/** @throws UsageError for a file or lengths that cannot be what was meant */
function checkOptions({ options }: LoadContext): string {
  if (options.path === null)
    throw new UsageError(`--dataset-name custom needs --dataset-path: a .jsonl file, ${form}.`);
  if (!options.path.endsWith('.jsonl'))
    throw new UsageError(
      `--dataset-path ${options.path}: Only JSONL format is supported for CustomDataset. Expected a name that ` +
        `ends in .jsonl and ${form}.`,
    );
  if (options.customOutputLen < 1 && options.customOutputLen !== -1)
    throw new UsageError(
      `--custom-output-len is ${options.customOutputLen}, expected a whole number > 0, or -1 for each row's "output_tokens".`,
    );
  return options.path;
}

/** What every row is turned into a sample with. */
type Making = { readonly context: LoadContext; readonly template: ClientTemplate };

/** The row's text and messages as they are sent, or what is in the way. */
function contentOf(
  row: CustomRow,
  { context, template }: Making,
): Pick<Sample, 'prompt' | 'chatMessages'> | string {
  const { content } = row;
  if (content.kind === 'prompt') {
    const { prompt } = content;
    return { prompt: template.apply?.([{ role: 'user', content: prompt }]) ?? prompt };
  }
  const { messages } = content;
  if (context.chatEndpoint) return { prompt: messages.map(messageText).join('\n'), chatMessages: messages };
  if (template.apply === null)
    return (
      'the row has "messages", but the endpoint takes one text and no chat template is applied' +
      `${template.reason === null ? ' (--skip-chat-template)' : `: ${template.reason}`}. ` +
      'Use a chat backend, or give rows with "prompt".'
    );
  if (messages.some(({ content: parts }) => typeof parts !== 'string'))
    return 'the row has messages with parts, but the endpoint takes one text. Use a chat backend.';
  return { prompt: template.apply(messages) };
}

async function sampleOf(file: EntryFile, index: number, making: Making): Promise<Sample> {
  const { options, tokenizer } = making.context;
  const needsOutputTokens = options.customOutputLen === -1;
  const row = parseCustomRow(await file.read(index), { needsOutputTokens });
  if (typeof row === 'string') throw await file.error(index, row);
  const content = contentOf(row, making);
  if (typeof content === 'string') throw await file.error(index, content);
  const { prompt } = content;
  const counted =
    typeof prompt === 'string' ? tokenizer?.count(prompt, { addSpecialTokens: true }) : undefined;
  return {
    ...content,
    promptTokens: counted ?? null,
    expectedOutputTokens: needsOutputTokens ? row.outputTokens : options.customOutputLen,
    media: [],
    requestId: null,
  };
}

/** Rows that can be sent, by position. Every row is looked at, so that a bad one shows whatever the seed. */
async function usableRows(file: EntryFile, { context }: Making): Promise<number[]> {
  const { options, note } = context;
  const needsOutputTokens = options.customOutputLen === -1;
  const usable: number[] = [];
  for (let index = 0; index < file.count; index += 1) {
    try {
      const row = parseCustomRow(await file.read(index), { needsOutputTokens });
      if (typeof row === 'string') throw await file.error(index, row);
      usable.push(index);
    } catch (error) {
      if (!options.skipInvalid || !(error instanceof DatasetRowError)) throw error;
    }
  }
  const invalid = file.count - usable.length;
  if (invalid > 0) note(`custom: ${invalid} of ${file.count} rows were left out, because they do not parse.`);
  return usable;
}

async function takeSamples(file: EntryFile, making: Making): Promise<Sample[]> {
  const { options, numPrompts, seed, progress } = making.context;
  const usable = await usableRows(file, making);
  const order = options.disableShuffle ? usable : shuffled(randomStream(seed, 'custom-order'), usable);
  const taken = numPrompts > 0 ? order.slice(0, numPrompts) : order;
  const samples: Sample[] = [];
  for (const index of taken) {
    samples.push(await sampleOf(file, index, making));
    if (samples.length % 100 === 0) progress(samples.length, taken.length);
  }
  return samples;
}

function sayTemplate({ context, template }: Making): void {
  if (template.apply !== null)
    context.note(
      `custom: prompts are put into the chat template of ${context.tokenizer?.id ?? 'the model'} here, because ` +
        'the endpoint takes plain text; --skip-chat-template sends them as they stand.',
    );
  else if (template.reason !== null)
    context.note(`custom: prompts are sent without a chat template, because ${template.reason}.`);
}

async function load(context: LoadContext): Promise<readonly Sample[]> {
  const path = checkOptions(context);
  const making = { context, template: clientTemplate(context) };
  sayTemplate(making);
  const file = await openEntryFile(path);
  try {
    const samples = await takeSamples(file, making);
    if (samples.length === 0) throw new InputFileError(`${path}: no row to send. Expected ${form}.`);
    return oversampled(withRequestIds(samples, context.requestIdPrefix), context);
  } finally {
    await file.close();
  }
}

/** Prompts of one's own, one per line. */
export const custom: Dataset = {
  name: 'custom',
  doc: 'Prompts of your own: JSONL with "prompt" or "messages", and optionally "output_tokens", per line.',
  flags: [
    'dataset-path',
    'disable-shuffle',
    'no-oversample',
    'skip-invalid',
    'custom-output-len',
    'skip-chat-template',
    'chat-template-kwargs',
  ],
  load,
};
