import type { FlagTable } from '../flag.ts';

/** Flags of data sets on the hub (upstream §2.4). */
export const hubDatasetFlags = {
  'hf-name': {
    group: 'Dataset hf',
    kind: 'string',
    default: null,
    placeholder: 'ORG/NAME',
    doc: 'Which data set the files at --dataset-path are of, where that is a path of this machine.',
  },
  'hf-subset': {
    group: 'Dataset hf',
    kind: 'string',
    default: null,
    defaultDoc: 'the data set’s own, or its first',
    doc: 'Configuration of the data set.',
  },
  'hf-split': {
    group: 'Dataset hf',
    kind: 'string',
    default: null,
    defaultDoc: 'the data set’s own, mostly train',
    doc: 'Split of the data set.',
  },
  'hf-output-len': {
    group: 'Dataset hf',
    kind: 'int',
    default: null,
    min: 1,
    defaultDoc: 'the data set’s own, or the length of its answer',
    doc: 'Output length, tokens.',
  },
  'no-stream': {
    group: 'Dataset hf',
    kind: 'boolean',
    default: false,
    doc: 'Fetch all files and choose among all rows, instead of only as many files as the requests need.',
  },
  'blazedit-min-distance': {
    group: 'Dataset hf',
    kind: 'float',
    default: 0,
    min: 0,
    max: 1,
    doc: 'Blazedit: smallest edit that is taken, as a normalised distance.',
  },
  'blazedit-max-distance': {
    group: 'Dataset hf',
    kind: 'float',
    default: 1,
    min: 0,
    max: 1,
    doc: 'Blazedit: largest edit that is taken.',
  },
  'asr-min-audio-len-sec': {
    group: 'Dataset hf',
    kind: 'float',
    default: 0,
    min: 0,
    doc: 'Speech recognition: shortest recording that is taken, s.',
  },
  'asr-max-audio-len-sec': {
    group: 'Dataset hf',
    kind: 'float',
    default: Number.POSITIVE_INFINITY,
    min: 0,
    defaultDoc: 'no limit',
    doc: 'Speech recognition: longest recording that is taken, s.',
  },
  'bfcl-categories': {
    group: 'Dataset hf',
    kind: 'comma-list',
    default: null,
    defaultDoc: 'simple,live_simple,multiple',
    doc: 'Berkeley Function-Calling Leaderboard: categories, taken in turn.',
  },
} as const satisfies FlagTable;
