import { type ClientTemplate, clientTemplate } from './client-template.ts';
import { type CustomRow, messageText, parseCustomRow } from './custom-row.ts';
import type { Dataset, LoadContext } from './dataset.ts';
import { checkCustomOutputLen } from './row-output-tokens.ts';
import { jsonlPath, rowSamples } from './row-samples.ts';
import type { Sample } from './sample.ts';

const form = 'one JSON object per line with "prompt", and optionally "output_tokens"';

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
  if (context.plainPrompts)
    return 'the row has "messages", but the endpoint takes a text that is no conversation. Use a chat backend, or give rows with "prompt".';
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

function sampleOf(row: CustomRow, making: Making): Sample | string {
  const { options, tokenizer } = making.context;
  const content = contentOf(row, making);
  if (typeof content === 'string') return content;
  const { prompt } = content;
  const counted =
    typeof prompt === 'string' ? tokenizer?.count(prompt, { addSpecialTokens: true }) : undefined;
  return {
    ...content,
    promptTokens: counted ?? null,
    expectedOutputTokens: options.customOutputLen === -1 ? row.outputTokens : options.customOutputLen,
    media: [],
    requestId: null,
  };
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
  const path = jsonlPath(context, form, 'CustomDataset');
  checkCustomOutputLen(context);
  const making = { context, template: clientTemplate(context) };
  sayTemplate(making);
  const needsOutputTokens = context.options.customOutputLen === -1;
  return await rowSamples(
    path,
    {
      form,
      parse: (value) => parseCustomRow(value, { needsOutputTokens }),
      sampleOf: (row) => sampleOf(row, making),
    },
    context,
  );
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
  hasRows: true,
  load,
};
