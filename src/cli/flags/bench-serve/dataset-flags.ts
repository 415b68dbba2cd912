import type { FlagTable } from '../flag.ts';
import { baseDatasetFlags } from './base-dataset-flags.ts';
import { hubDatasetFlags } from './hub-dataset-flags.ts';
import { mediaDatasetFlags } from './media-dataset-flags.ts';
import { omniInteractFlags } from './omniinteract-flags.ts';

/** Which prompts (upstream §2.4), for the datasets that can be loaded. */
export const datasetFlags = {
  'dataset-name': {
    group: 'Dataset',
    kind: 'string',
    default: 'random',
    common: true,
    placeholder: 'NAME',
    doc: 'Where prompts come from.',
  },
  'dataset-path': {
    group: 'Dataset',
    kind: 'path',
    default: null,
    common: true,
    doc: 'File of the dataset; of hf its id on the hub, org/name or org/name@revision; of omniinteract a folder, a data.tar(.gz) or such an id.',
  },
  'input-len': {
    group: 'Dataset',
    kind: 'int',
    default: null,
    min: 0,
    doc: 'Prompt length for any dataset that takes one, in tokens; wins over its own flag.',
  },
  'output-len': {
    group: 'Dataset',
    kind: 'int',
    default: null,
    min: 1,
    doc: 'Output length for any dataset that takes one, in tokens; wins over its own flag.',
  },
  'disable-shuffle': {
    group: 'Dataset',
    kind: 'boolean',
    default: false,
    doc: 'Keep the order of the file.',
  },
  'no-oversample': {
    group: 'Dataset',
    kind: 'boolean',
    default: false,
    doc: 'Send fewer requests where the dataset holds fewer, instead of repeating rows.',
  },
  'skip-invalid': {
    group: 'Dataset',
    kind: 'boolean',
    default: false,
    doc: 'Leave out rows that do not parse, with a count, instead of stopping.',
  },
  'chat-template-kwargs': {
    group: 'Dataset',
    kind: 'json',
    default: null,
    doc: 'Variables for the chat template where it is applied on the client.',
  },
  'skip-chat-template': {
    group: 'Dataset',
    kind: 'boolean',
    default: false,
    doc: 'Send prompts of a custom dataset as they are; else completions get them in the chat template.',
  },
  'sharegpt-output-len': {
    group: 'Dataset sharegpt',
    kind: 'int',
    default: null,
    min: 1,
    defaultDoc: "the length of the file's own answer",
    doc: 'Output length, tokens.',
  },
  'custom-output-len': {
    group: 'Dataset custom',
    kind: 'int',
    default: 256,
    min: -1,
    doc: 'Output length, tokens; -1 takes each row’s output_tokens.',
  },
  'random-input-len': {
    group: 'Dataset random',
    kind: 'int',
    default: 1024,
    min: 0,
    common: true,
    doc: 'Prompt length, tokens.',
  },
  'random-output-len': {
    group: 'Dataset random',
    kind: 'int',
    default: 128,
    min: 0,
    common: true,
    doc: 'Output length, tokens.',
  },
  'random-prefix-len': {
    group: 'Dataset random',
    kind: 'int',
    default: 0,
    min: 0,
    doc: 'Tokens that all prompts begin with, beside --random-input-len.',
  },
  'random-range-ratio': {
    group: 'Dataset random',
    kind: 'number-or-json',
    default: 0,
    placeholder: 'RATIO|JSON',
    doc: 'Spread of lengths: uniform in length × (1 ± ratio), 0 ≤ ratio < 1. {"input": r, "output": r} sets the two apart.',
  },
  'random-batch-size': {
    group: 'Dataset random',
    kind: 'int',
    default: 1,
    min: 1,
    doc: 'Prompts a request, for endpoints that take lists (embeddings, rerank). --num-prompts counts prompts.',
  },
  'no-reranker': {
    group: 'Dataset random',
    kind: 'boolean',
    default: false,
    doc: 'random-rerank: the model reads query and documents apart, as embedding models do; the query counts as one of the prompts.',
  },
  ...mediaDatasetFlags,
  ...baseDatasetFlags,
  ...hubDatasetFlags,
  ...omniInteractFlags,
} as const satisfies FlagTable;
