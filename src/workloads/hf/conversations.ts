import { isRow, type Row, wrongField } from '../row-value.ts';
import type { HfSet, HfTools } from './hf-set.ts';
import { rowMedia } from './row-media.ts';
import { answeredSample, plainSample } from './text-sample.ts';

type Turns = { readonly prompt: string; readonly answer: string };

function firstTurns(row: Row): Turns | { leftOut: string } | string {
  const { conversations } = row;
  if (!Array.isArray(conversations)) return wrongField('conversations', conversations, 'a list');
  if (conversations.length < 2) return { leftOut: 'with fewer than two turns' };
  const [prompt, answer] = conversations.map((turn) => (isRow(turn) ? turn.value : undefined));
  if (typeof prompt !== 'string') return wrongField('conversations[0].value', prompt, 'text');
  if (typeof answer !== 'string') return wrongField('conversations[1].value', answer, 'text');
  return { prompt, answer };
}

async function sampleOf(row: Row, tools: HfTools, withImage: boolean) {
  const turns = firstTurns(row);
  if (typeof turns === 'string' || 'leftOut' in turns) return turns;
  const media = withImage && row.image !== undefined && row.image !== null;
  const part = media ? await rowMedia('image_url', row.image, 'image', tools) : null;
  if (typeof part === 'string') return part;
  const sample = plainSample(turns.prompt, null, tools, part === null ? [] : [part]);
  return answeredSample(sample, turns.answer, tools);
}

/** Conversations of people with a model. */
export const conversation: HfSet = {
  name: 'Conversation',
  ids: ['Aeala/ShareGPT_Vicuna_unfiltered'],
  doc: 'The first turn; sequences that are too short or too long are left out.',
  subset: null,
  split: 'train',
  columns: ['conversations'],
  outputDoc: 'length of the second turn',
  sampleOf: (row, tools) => sampleOf(row, tools, false),
};

/** Conversations about a picture. */
export const multimodalConversation: HfSet = {
  name: 'Multimodal conversation',
  ids: ['lmms-lab/LLaVA-OneVision-Data'],
  doc: 'The first turn with its image, where the row has one.',
  subset: null,
  split: 'train',
  columns: ['conversations', 'image'],
  media: 'image_url',
  outputDoc: 'length of the second turn',
  sampleOf: (row, tools) => sampleOf(row, tools, true),
};
