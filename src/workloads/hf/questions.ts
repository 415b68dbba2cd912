import { wrongField } from '../row-value.ts';
import type { HfSet } from './hf-set.ts';
import { answeredSample, plainSample, textFields, userSample } from './text-sample.ts';

/** Open questions of many kinds. */
export const mtBench: HfSet = {
  name: 'MT-Bench',
  ids: ['philschmid/mt-bench'],
  doc: 'The first turn, as a user’s turn.',
  subset: null,
  split: 'train',
  columns: ['turns'],
  isTurn: true,
  outputDoc: '256',
  sampleOf: ({ turns }, tools) => {
    const first: unknown = Array.isArray(turns) ? turns[0] : undefined;
    if (typeof first !== 'string') return wrongField('turns[0]', first, 'text');
    return userSample(first, tools.outputTokens ?? 256, tools);
  },
};

/** Problems of mathematics. */
export const aimo: HfSet = {
  name: 'AIMO',
  ids: ['AI-MO/aimo-validation-aime', 'AI-MO/NuminaMath-1.5', 'AI-MO/NuminaMath-CoT'],
  doc: 'A problem; kept are prompts up to 2,048 tokens, with their solutions up to 32,000.',
  subset: null,
  split: 'train',
  columns: ['problem', 'solution'],
  outputDoc: 'length of the solution',
  sampleOf: (row, tools) => {
    const texts = textFields(row, 'problem', 'solution');
    if (typeof texts === 'string') return texts;
    const limits = { promptTokens: 2048, totalTokens: 32_000 };
    return answeredSample(plainSample(texts.problem, null, tools), texts.solution, tools, limits);
  },
};

/** Sums in words. */
export const gsm8k: HfSet = {
  name: 'GSM8K',
  ids: ['openai/gsm8k'],
  doc: 'A question, as a user’s turn.',
  subset: 'main',
  split: 'test',
  columns: ['question', 'answer'],
  isTurn: true,
  outputDoc: 'length of the answer',
  sampleOf: (row, tools) => {
    const texts = textFields(row, 'question', 'answer');
    if (typeof texts === 'string') return texts;
    return answeredSample(userSample(texts.question, null, tools), texts.answer, tools);
  },
};

/** What MLPerf's inference rules measure chat models with. */
export const mlperf: HfSet = {
  name: 'MLPerf',
  ids: ['mgoin/mlperf-inference-llama2-data', 'mgoin/mlperf-inference-llama3.1-data'],
  doc: 'System prompt and question as two messages; sequences that are too short or too long are left out.',
  subset: null,
  split: 'train',
  columns: ['system_prompt', 'question', 'output'],
  isTurn: true,
  outputDoc: 'length of the reference answer',
  sampleOf: (row, tools) => {
    const texts = textFields(row, 'system_prompt', 'question', 'output');
    if (typeof texts === 'string') return texts;
    const messages = [
      { role: 'system', content: texts.system_prompt },
      { role: 'user', content: texts.question },
    ];
    const joined = `${texts.system_prompt}\n${texts.question}`;
    const sample = plainSample(tools.template.apply?.(messages) ?? joined, null, tools);
    const sent = tools.context.chatEndpoint ? { ...sample, chatMessages: messages } : sample;
    return answeredSample(sent, texts.output, tools);
  },
};
