import type { HfSet } from './hf-set.ts';
import { answeredSample, plainSample, textFields, tokensOf, userSample } from './text-sample.ts';

/** Code to be changed as an instruction says. */
export const instructCoder: HfSet = {
  name: 'InstructCoder',
  ids: ['likaixin/InstructCoder'],
  doc: 'Code and what to do with it, as a user’s turn.',
  subset: null,
  split: 'train',
  columns: ['input', 'instruction'],
  isTurn: true,
  outputDoc: '200',
  sampleOf: (row, tools) => {
    const texts = textFields(row, 'input', 'instruction');
    if (typeof texts === 'string') return texts;
    const prompt = `${texts.input}\n\n${texts.instruction} Just output the code, do not include any explanation.`;
    return userSample(prompt, tools.outputTokens ?? 200, tools);
  },
};

/** Whole files with a change to be made. */
export const blazedit: HfSet = {
  name: 'Blazedit',
  ids: ['vdaita/edit_5k_char', 'vdaita/edit_10k_char'],
  doc: 'A file and a change request, as a user’s turn; rows whose `norm_distance` is outside `--blazedit-min-distance` … `--blazedit-max-distance` are left out.',
  subset: null,
  split: 'train',
  columns: ['code', 'change_request', 'norm_distance'],
  isTurn: true,
  outputDoc: '4000',
  sampleOf: (row, tools) => {
    const texts = textFields(row, 'code', 'change_request');
    if (typeof texts === 'string') return texts;
    const { min, max } = tools.context.options.hf.blazeditDistance;
    const distance = row.norm_distance;
    if (typeof distance !== 'number')
      return `"norm_distance" is ${JSON.stringify(distance) ?? 'missing'}, expected a number. Fix the row or pass --skip-invalid.`;
    if (distance < min || distance > max) return { leftOut: 'by their edit distance' };
    const prompt =
      'Given a code file, please apply the change requests and generate the new file.\n\n' +
      `Original file:\n\`\`\`python\n${texts.code}\n\`\`\`\n\n` +
      `Change request:\n${texts.change_request}\n\n` +
      'Please generate the new code file in the "New file" section below.';
    return userSample(prompt, tools.outputTokens ?? 4000, tools);
  },
};

/** Edits of a programmer, of which the next is to be foretold; the words are those that the model was trained on. */
export const nextEdit: HfSet = {
  name: 'Next edit prediction',
  ids: ['zed-industries/zeta'],
  doc: 'A user’s edits and the excerpt that is edited, in the form of Zeta’s training.',
  subset: null,
  split: 'train',
  columns: ['events', 'input', 'output'],
  outputDoc: 'length of the expected edit',
  sampleOf: (row, tools) => {
    const texts = textFields(row, 'events', 'input', 'output');
    if (typeof texts === 'string') return texts;
    const prompt =
      '### Instruction:\nYou are a code completion assistant and your task is to analyze user edits and then rewrite ' +
      'an excerpt that the user provides, suggesting the appropriate edits within the excerpt, taking into account ' +
      `the cursor location.\n\n### User Edits:\n\n${texts.events}\n\n### User Excerpt:\n\n${texts.input}\n\n` +
      '### Response:\n\n';
    return plainSample(prompt, tools.outputTokens ?? tokensOf(texts.output, tools), tools);
  },
};

/** Functions to be written. */
export const humanEval: HfSet = {
  name: 'HumanEval',
  ids: ['openai/openai_humaneval'],
  doc: 'The head of a function and what it is to do, as a user’s turn.',
  subset: null,
  split: 'test',
  columns: ['prompt', 'canonical_solution'],
  isTurn: true,
  outputDoc: 'length of the solution',
  sampleOf: (row, tools) => {
    const texts = textFields(row, 'prompt', 'canonical_solution');
    if (typeof texts === 'string') return texts;
    return answeredSample(userSample(texts.prompt, null, tools), texts.canonical_solution, tools);
  },
};
