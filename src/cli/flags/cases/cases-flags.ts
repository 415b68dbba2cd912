import type { FlagTable } from '../flag.ts';

/** The flags of `bench cases`. */
export const casesFlags = {
  label: {
    group: 'Choice',
    kind: 'repeated',
    default: null,
    common: true,
    placeholder: 'TEXT',
    aliases: ['--label-substr'],
    doc: 'Run cases whose label contains the text. May be given several times; any of them will do.',
  },
  type: {
    group: 'Choice',
    kind: 'repeated',
    default: null,
    common: true,
    placeholder: 'TYPE',
    aliases: ['--test-type'],
    doc: 'Run cases of this type, such as local. May be given several times.',
  },
  'model-type': {
    group: 'Choice',
    kind: 'repeated',
    default: null,
    common: true,
    placeholder: 'TYPE',
    doc: 'Run cases of this model_type, such as omni. May be given several times.',
  },
  'results-dir': {
    group: 'Output',
    kind: 'path',
    default: null,
    common: true,
    placeholder: 'DIR',
    defaultDoc: 'BENCHMARK_DIR of the environment, or case-results',
    doc: 'Folder of the results: a folder for each case, the logs of servers, and summary.json.',
  },
  'dry-run': {
    group: 'Run',
    kind: 'boolean',
    default: false,
    common: true,
    doc: 'Print what would be started, with which conditions, and start nothing.',
  },
  'stop-on-failure': {
    group: 'Run',
    kind: 'boolean',
    default: false,
    doc: 'Begin no further case once one did not run to its end. A broken condition stops nothing.',
  },
} as const satisfies FlagTable;
