import type { FlagTable } from '../flag.ts';

/** What requests hold beside the prompt (upstream §2.3). */
export const contentFlags = {
  'ignore-eos': {
    group: 'Content',
    kind: 'boolean',
    default: null,
    common: true,
    defaultDoc: 'on for random datasets',
    doc: 'Ask the server to generate to the full output length. --no-ignore-eos turns it off for random datasets too.',
  },
  logprobs: {
    group: 'Content',
    kind: 'int',
    default: null,
    min: 0,
    doc: 'Log-probabilities per token to ask for (completions).',
  },
  'extra-body': {
    group: 'Content',
    kind: 'json',
    default: null,
    common: true,
    doc: 'Fields to add to every request body. They win over everything built before; `stream: false` asks for unstreamed replies.',
  },
  unstreamed: {
    group: 'Content',
    kind: 'boolean',
    default: false,
    doc: 'Ask for unstreamed replies: no time to first token, no inter-token latency.',
  },
  'request-id-prefix': {
    group: 'Content',
    kind: 'string',
    default: null,
    defaultDoc: 'bench- and 8 random hex digits',
    doc: 'Start of the x-request-id of every request.',
  },
  'image-edits-bot-task': {
    group: 'Content',
    kind: 'string',
    default: 'think',
    doc: 'Image edits: what the writing stage does before the drawing, sent as bot_task unless --extra-body has one. An empty value sends none.',
  },
  'video-download': {
    group: 'Content',
    kind: 'boolean',
    default: false,
    doc: 'Videos: fetch the file of every finished job, after its latency has ended. A job without its file has failed.',
  },
  'top-p': { group: 'Sampling', kind: 'float', default: null, doc: 'Sampling parameter top_p.' },
  'top-k': { group: 'Sampling', kind: 'int', default: null, doc: 'Sampling parameter top_k.' },
  'min-p': { group: 'Sampling', kind: 'float', default: null, doc: 'Sampling parameter min_p.' },
  temperature: {
    group: 'Sampling',
    kind: 'float',
    default: null,
    defaultDoc: "the server's",
    doc: 'Sampling parameter temperature.',
  },
  'frequency-penalty': {
    group: 'Sampling',
    kind: 'float',
    default: null,
    doc: 'Sampling parameter frequency_penalty.',
  },
  'presence-penalty': {
    group: 'Sampling',
    kind: 'float',
    default: null,
    doc: 'Sampling parameter presence_penalty.',
  },
  'repetition-penalty': {
    group: 'Sampling',
    kind: 'float',
    default: null,
    doc: 'Sampling parameter repetition_penalty.',
  },
  'use-beam-search': {
    group: 'Sampling',
    kind: 'boolean',
    default: false,
    hidden: true,
    belongsTo: 'beam search, which the reference parses and does not do',
    doc: 'Accepted for compatibility.',
  },
} as const satisfies FlagTable;
