import type { FlagTable } from '../flag.ts';

const group = 'Accuracy';

/** Who judges, and how. `bench serve` takes them too. */
export const omniInteractJudgeFlags = {
  'omniinteract-judge-base-url': {
    group,
    kind: 'string',
    default: 'http://127.0.0.1:8000',
    common: true,
    placeholder: 'URL',
    aliases: ['--judge-base-url'],
    doc: 'Text model that judges, through the chat API of OpenAI; with or without /v1. It is not the server under test.',
  },
  'omniinteract-judge-model': {
    group,
    kind: 'string',
    default: null,
    common: true,
    aliases: ['--judge-model'],
    doc: 'Name under which the judge serves its model. Needed where there is something to judge.',
  },
  'omniinteract-judge-api-key': {
    group,
    kind: 'string',
    default: 'EMPTY',
    aliases: ['--judge-api-key'],
    doc: 'Sent to the judge as bearer token. It is never stored.',
  },
  'omniinteract-judge-timeout-s': {
    group,
    kind: 'positive-float',
    default: 60,
    aliases: ['--judge-timeout-s'],
    doc: 'Limit of one request to the judge, s. A request that ran out of time is sent again, three times in all.',
  },
  'omniinteract-judge-max-tokens': {
    group,
    kind: 'positive-int',
    default: 512,
    aliases: ['--judge-max-tokens'],
    doc: 'Longest answer of the judge, tokens.',
  },
  'judge-prompts': {
    group,
    kind: 'existing-file',
    default: null,
    placeholder: 'FILE',
    defaultDoc: 'our own wording',
    doc: 'Prompts of the three judges, YAML or JSON, with the protocol_source that results then name; docs/accuracy.md shows the form.',
  },
  'omniinteract-eval-workers': {
    group,
    kind: 'positive-int',
    default: 8,
    aliases: ['--eval-workers'],
    doc: 'Cases that are judged at the same time.',
  },
  'omniinteract-eval-output-dir': {
    group,
    kind: 'path',
    default: null,
    placeholder: 'DIR',
    defaultDoc: 'evaluation/ in the folder of artifacts',
    aliases: ['--eval-output-dir'],
    doc: 'Where the evaluations are written: one file per case, and unified_eval_summary.json.',
  },
  'omniinteract-eval-skip-existing': {
    group,
    kind: 'boolean',
    default: false,
    aliases: ['--eval-skip-existing'],
    doc: 'Take over evaluations that are there already and were made from the same transcript, annotation, judge and prompts.',
  },
} as const satisfies FlagTable;

/** The gate of one or several evaluations. */
export const omniInteractGateFlags = {
  'omniinteract-aggregate-min-ia-qtf1': {
    group: 'Conditions',
    kind: 'float',
    default: null,
    min: 0,
    max: 1,
    common: true,
    aliases: ['--min-ia-qtf1'],
    doc: 'Least All Global IA-QTF1, from the counts of all runs together. Exit code 3 where it is lower, where a run is not judged in full, or where a run has nothing judged.',
  },
  json: {
    group: 'Output',
    kind: 'path',
    default: null,
    common: true,
    placeholder: 'FILE',
    doc: 'Write the pooled counts, scores and conditions as JSON; - is standard output.',
  },
} as const satisfies FlagTable;

/** The flags of `accuracy omniinteract evaluate`. */
export const omniInteractEvaluateFlags = {
  ...omniInteractJudgeFlags,
  'dataset-path': {
    group: 'Input',
    kind: 'path',
    default: null,
    common: true,
    placeholder: 'DIR',
    defaultDoc: 'where the manifest says',
    doc: 'Dataset whose annotations count, for artifacts that were made on another machine or by the official scripts.',
  },
  ...omniInteractGateFlags,
} as const satisfies FlagTable;
