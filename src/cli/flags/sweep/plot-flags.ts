import type { FlagTable } from '../flag.ts';

const dryRun = {
  'dry-run': {
    group: 'Figures',
    kind: 'boolean',
    default: false,
    doc: 'Say which figures would be drawn, and draw none.',
  },
} as const satisfies FlagTable;

/** The flags of `bench sweep plot` (upstream §9.4). */
export const sweepPlotFlags = {
  'var-x': {
    group: 'Curves',
    kind: 'string',
    default: 'request_throughput',
    common: true,
    doc: 'Key of the horizontal axis.',
  },
  'var-y': {
    group: 'Curves',
    kind: 'string',
    default: 'p99_e2el_ms',
    common: true,
    doc: 'Key of the vertical axis.',
  },
  'curve-by': {
    group: 'Curves',
    kind: 'comma-list',
    default: null,
    common: true,
    doc: 'One curve for each combination of these keys; the first three show as colour, dash and width.',
  },
  'row-by': {
    group: 'Curves',
    kind: 'comma-list',
    default: null,
    doc: 'One row of panels for each combination of these keys.',
  },
  'col-by': {
    group: 'Curves',
    kind: 'comma-list',
    default: null,
    doc: 'One column of panels for each combination of these keys.',
  },
  'fig-by': {
    group: 'Figures',
    kind: 'comma-list',
    default: null,
    doc: 'One figure for each combination of these keys.',
  },
  'filter-by': {
    group: 'Runs',
    kind: 'string',
    default: '',
    placeholder: 'KEY<VALUE,…',
    doc: 'Only runs for which all of these hold; operators: == != <= >= < >.',
  },
  'bin-by': {
    group: 'Runs',
    kind: 'string',
    default: '',
    placeholder: 'KEY%SIZE,…',
    doc: 'Cut the values of a key down to multiples of a size; runs of one bin make one point.',
  },
  'scale-x': {
    group: 'Curves',
    kind: 'choice',
    choices: ['linear', 'log'],
    default: 'linear',
    doc: 'Scale of the horizontal axis.',
  },
  'scale-y': {
    group: 'Curves',
    kind: 'choice',
    choices: ['linear', 'log'],
    default: 'linear',
    doc: 'Scale of the vertical axis.',
  },
  'fig-dir': {
    group: 'Figures',
    kind: 'string',
    default: '',
    defaultDoc: 'the folder itself',
    doc: 'Folder of the figures, below the folder of the sweep.',
  },
  'fig-name': {
    group: 'Figures',
    kind: 'string',
    default: 'FIGURE',
    doc: 'Name of the figures’ files, before what tells them apart.',
  },
  ...dryRun,
} as const satisfies FlagTable;

/** The flags of `bench sweep plot_pareto`. */
export const sweepParetoFlags = {
  'user-count-var': {
    group: 'Front',
    kind: 'string',
    default: 'max_concurrency',
    common: true,
    doc: 'Key of the number of users; without it the request rate counts, then the most requests at once.',
  },
  'gpu-count-var': {
    group: 'Front',
    kind: 'string',
    default: null,
    common: true,
    defaultDoc: 'tensor × pipeline × data parallel size, 1 where not known',
    doc: 'Key of the number of GPUs.',
  },
  ...dryRun,
} as const satisfies FlagTable;
