import { messageOf } from '../foundation/errors.ts';
import { probeClip } from '../media/probe-clip.ts';
import type { Dataset, LoadContext } from './dataset.ts';
import { MediaReferences } from './media-reference.ts';
import { asMultimodalChat } from './multimodal-chat.ts';
import { checkCustomOutputLen, rowOutputTokens } from './row-output-tokens.ts';
import { jsonlPath, rowSamples } from './row-samples.ts';
import { isRow, wrongField } from './row-value.ts';
import type { Sample } from './sample.ts';

const form = 'one JSON object per line with "audio", a path or URL, and optionally "prompt"';

type AudioRow = { readonly prompt: string; readonly audio: string; readonly outputTokens: number };

function parseRow(value: unknown, customOutputLen: number): AudioRow | string {
  if (!isRow(value)) return wrongField('row', value, 'an object');
  const outputTokens = rowOutputTokens(value, customOutputLen);
  if (typeof outputTokens === 'string') return outputTokens;
  const { prompt = '', audio } = value;
  if (typeof prompt !== 'string') return wrongField('prompt', prompt, 'text, or none');
  if (typeof audio !== 'string' || audio === '') return wrongField('audio', audio, 'a path or URL');
  return { prompt, audio, outputTokens };
}

async function sampleOf(
  row: AudioRow,
  context: LoadContext,
  references: MediaReferences,
): Promise<Sample | string> {
  const { options, tokenizer, chatEndpoint } = context;
  // Endpoints for recordings take the file itself; only chat servers can fetch it.
  const clientSide = options.ensureClientSideData || !chatEndpoint;
  const part = clientSide
    ? await references.inline('audio_url', row.audio)
    : references.remote('audio_url', row.audio);
  if (typeof part === 'string') return part;
  const durationS = await durationOf(row.audio, references, clientSide);
  if (typeof durationS === 'string') return durationS;
  const sample: Sample = {
    prompt: row.prompt,
    promptTokens: tokenizer?.count(row.prompt, { addSpecialTokens: row.prompt !== '' }) ?? null,
    expectedOutputTokens: row.outputTokens,
    media: [part],
    // APIs that take recordings have a field for a text that goes with them; of a chat it is a part of the message.
    ...(row.prompt === '' || chatEndpoint ? {} : { bodyOverrides: { prompt: row.prompt } }),
    requestId: null,
    ...(durationS === null ? {} : { inputAudioDurationS: durationS }),
  };
  const enableMultimodalChat = options.enableMultimodalChat || (chatEndpoint && row.prompt === '');
  return asMultimodalChat(sample, { ...options, enableMultimodalChat });
}

/**
 * How long the recording is, s. A file that only the server can read, or that is on the web, has no length here:
 * `null`.
 */
async function durationOf(
  reference: string,
  references: MediaReferences,
  clientSide: boolean,
): Promise<number | null | string> {
  if (!clientSide && /^https?:/i.test(reference)) return null;
  const medium = await references.load('audio_url', reference);
  if (typeof medium === 'string') return clientSide ? medium : null;
  try {
    return (await probeClip(Buffer.from(medium.bytes))).durationS;
  } catch (error) {
    return `"audio" has no length that can be read (${messageOf(error)}). Fix the row or pass --skip-invalid.`;
  }
}

async function load(context: LoadContext): Promise<readonly Sample[]> {
  const path = jsonlPath(context, form, 'CustomAudioDataset');
  checkCustomOutputLen(context);
  const references = new MediaReferences(path);
  return await rowSamples(
    path,
    {
      form,
      parse: (value) => parseRow(value, context.options.customOutputLen),
      sampleOf: (row) => sampleOf(row, context, references),
      skipsUnusable: true,
    },
    context,
  );
}

/** Recordings of one's own, for transcription, translation or chat. */
export const customAudio: Dataset = {
  name: 'custom_audio',
  doc: 'Recordings of your own, to transcribe or to chat about: JSONL with "audio" and optionally "prompt" per line.',
  flags: [
    'dataset-path',
    'disable-shuffle',
    'no-oversample',
    'skip-invalid',
    'custom-output-len',
    'custom-ensure-client-side-data',
    'enable-multimodal-chat',
  ],
  hasRows: true,
  load,
};
