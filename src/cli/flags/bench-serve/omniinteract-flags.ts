import { omniInteractSubsets } from '../../../workloads/omniinteract/omniinteract-case.ts';
import { defaultOmniInteractOptions as defaults } from '../../../workloads/omniinteract/omniinteract-options.ts';
import { scenarioTags } from '../../../workloads/omniinteract/scenario-tags.ts';
import { omniInteractJudgeFlags } from '../accuracy/omniinteract-flags.ts';
import type { FlagTable } from '../flag.ts';

const group = 'Dataset omniinteract';

/** Which conversations are replayed, what they leave behind, and who judges it. */
export const omniInteractFlags = {
  'omniinteract-subsets': {
    group,
    kind: 'list',
    choices: omniInteractSubsets,
    default: null,
    defaultDoc: 'all three',
    doc: 'Parts of the dataset that are drawn from.',
  },
  'omniinteract-scenario-tags': {
    group,
    kind: 'list',
    choices: scenarioTags,
    default: null,
    defaultDoc: 'none: any case will do',
    doc: 'Kinds of conversations of which at least one each is among the cases, as far as --num-prompts goes; others make up the number.',
  },
  'omniinteract-scenario-focus': {
    group,
    kind: 'boolean',
    default: false,
    doc: 'Only cases of the kinds in --omniinteract-scenario-tags.',
  },
  'omniinteract-video-list': {
    group,
    kind: 'existing-file',
    default: null,
    placeholder: 'FILE',
    doc: 'Run the cases that this file names, in its order, instead of drawing them; sampled_cases.jsonl of an earlier run is such a file. --num-prompts takes the first so many, 0 all.',
  },
  'omniinteract-timeout-s': {
    group,
    kind: 'positive-float',
    default: defaults.timeoutS,
    doc: 'Limit of one session beside the length of its recording, s.',
  },
  'omniinteract-media-timeout-s': {
    group,
    kind: 'positive-float',
    default: defaults.mediaTimeoutS,
    doc: 'Limit of each FFmpeg command that decodes a video before the run, s.',
  },
  'omniinteract-max-video-duration-s': {
    group,
    kind: 'positive-float',
    default: defaults.maxVideoDurationS,
    doc: 'Longest video that is accepted, s.',
  },
  'omniinteract-ref-audio': {
    group,
    kind: 'existing-file',
    default: null,
    placeholder: 'FILE',
    doc: 'WAV file of the voice to answer with. Required.',
  },
  'omniinteract-require-response': {
    group,
    kind: 'boolean',
    default: false,
    doc: 'A session that answers nothing aloud has failed; otherwise listening is a valid result.',
  },
  'omniinteract-output-dir': {
    group,
    kind: 'path',
    default: 'omniinteract-output',
    placeholder: 'DIR',
    doc: 'Folder of the artifacts: sound, transcript, events and result of each case, and the manifests. One run at a time uses it. A run that was cut off goes on where it was when the same command runs again.',
  },
  'omniinteract-evaluate': {
    group,
    kind: 'boolean',
    default: false,
    doc: 'After the run, have a text model judge what was said; needs --omniinteract-judge-model.',
  },
  ...omniInteractJudgeFlags,
} as const satisfies FlagTable;
