import type { FlagTable } from '../flag.ts';

/** Conditions on a result; `bench serve` takes them too. */
export const thresholdFlags = {
  threshold: {
    group: 'Conditions',
    kind: 'repeated',
    default: null,
    common: true,
    placeholder: 'CONDITION',
    doc: 'What must hold of a value, such as p99_ttft_ms<500; keys are those of the result JSON. Exit code 3 where it does not hold, or where the value was not observed. May be given several times.',
  },
} as const satisfies FlagTable;

/** The flags of `compare`. */
export const compareFlags = {
  'fail-on': {
    group: 'Conditions',
    kind: 'repeated',
    default: null,
    common: true,
    placeholder: 'CONDITION',
    doc: "What must not hold of the change against the baseline: p99_ttft_ms>+5% (relative), failed>0 (in the metric's unit). Exit code 3 where it holds, or where a side did not observe the value. May be given several times.",
  },
  ...thresholdFlags,
  'fail-on-regression': {
    group: 'Conditions',
    kind: 'boolean',
    default: false,
    common: true,
    doc: 'Exit with 3 where any metric got worse by more than scatter.',
  },
  'significant-only': {
    group: 'Conditions',
    kind: 'boolean',
    default: false,
    doc: 'Let a change pass --fail-on that is no more than scatter. A change that cannot be tested counts as it is.',
  },
  'family-error': {
    group: 'Statistics',
    kind: 'float',
    default: 0.03,
    doc: 'Probability that any metric at all is flagged between two sides that are alike, over 0 and at most 0.5.',
  },
  seed: {
    group: 'Statistics',
    kind: 'int',
    default: 0,
    doc: 'Seed of the resampling. The same runs and seed give the same result.',
  },
  json: {
    group: 'Output',
    kind: 'path',
    default: null,
    common: true,
    placeholder: 'FILE',
    doc: 'Write the comparison as JSON; - is standard output.',
  },
  markdown: {
    group: 'Output',
    kind: 'path',
    default: null,
    common: true,
    placeholder: 'FILE',
    doc: 'Write the comparison as Markdown; - is standard output. A GitHub job gets it in its summary without this flag.',
  },
  html: {
    group: 'Output',
    kind: 'path',
    default: null,
    common: true,
    placeholder: 'FILE',
    doc: 'Write the comparison as a page of HTML; - is standard output.',
  },
  junit: {
    group: 'Output',
    kind: 'path',
    default: null,
    common: true,
    placeholder: 'FILE',
    doc: 'Write the conditions as JUnit test cases; - is standard output.',
  },
} as const satisfies FlagTable;
