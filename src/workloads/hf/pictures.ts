import { isRow, type Row, wrongField } from '../row-value.ts';
import type { HfOutcome, HfSet, HfTools } from './hf-set.ts';
import { rowMedia } from './row-media.ts';
import { plainSample, textField } from './text-sample.ts';

/** The first message of a conversation that is a list of turns, each a list of messages. */
function firstText(value: unknown, field: string): { readonly text: string } | string {
  const turn = Array.isArray(value) ? value[0] : undefined;
  const message = Array.isArray(turn) ? turn[0] : turn;
  const content = isRow(message) ? message.content : undefined;
  return typeof content === 'string'
    ? { text: content }
    : wrongField(`${field}[0][0].content`, content, 'text');
}

async function arenaSample(row: Row, tools: HfTools): Promise<HfOutcome> {
  const field = row.conversation === undefined ? 'turns' : 'conversation';
  const first = firstText(row[field], field);
  if (typeof first === 'string') return first;
  const image = Array.isArray(row.images) ? row.images[0] : row.images;
  const part = await rowMedia('image_url', image, 'images[0]', tools);
  if (typeof part === 'string') return part;
  return plainSample(first.text, tools.outputTokens ?? 128, tools, [part]);
}

/** What people asked of vision models. */
export const visionArena: HfSet = {
  name: 'VisionArena',
  ids: ['lmarena-ai/VisionArena-Chat', 'lmarena-ai/vision-arena-bench-v0.1'],
  doc: 'The user’s first message with its first image.',
  subset: null,
  split: 'train',
  columns: ['conversation', 'turns', 'images'],
  media: 'image_url',
  outputDoc: '128',
  sampleOf: arenaSample,
};

/** Questions about pictures, with options that are not sent. */
export const mmStar: HfSet = {
  name: 'MMStar',
  ids: ['Lin-Chen/MMStar'],
  doc: 'The question before “Options:”, with its image.',
  subset: null,
  split: 'val',
  columns: ['question', 'image'],
  media: 'image_url',
  outputDoc: '128',
  sampleOf: async (row, tools) => {
    const question = textField(row, 'question');
    if (typeof question === 'string') return question;
    const part = await rowMedia('image_url', row.image, 'image', tools);
    if (typeof part === 'string') return part;
    const [asked = ''] = question.text.split('Options:');
    return plainSample(asked.trim(), tools.outputTokens ?? 128, tools, [part]);
  },
};

/** Questions about videos of experts' subjects. */
export const mmvu: HfSet = {
  name: 'MMVU',
  ids: ['yale-nlp/MMVU'],
  doc: 'The question and its choices (`A.…`), with its video: a web address goes as it is.',
  subset: null,
  split: 'validation',
  columns: ['question', 'choices', 'video'],
  media: 'video_url',
  outputDoc: '128',
  sampleOf: async (row, tools) => {
    const question = textField(row, 'question');
    if (typeof question === 'string') return question;
    const { choices } = row;
    if (!isRow(choices)) return wrongField('choices', choices, 'an object of texts');
    const listed = Object.entries(choices).map(([key, choice]) => `${key}.${String(choice ?? '')}`);
    const part = await rowMedia('video_url', row.video, 'video', tools);
    if (typeof part === 'string') return part;
    return plainSample(`${question.text} ${listed.join(' ')}`, tools.outputTokens ?? 128, tools, [part]);
  },
};
