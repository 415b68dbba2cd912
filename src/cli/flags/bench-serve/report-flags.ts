import { thresholdFlags } from '../compare/compare-flags.ts';
import type { FlagTable } from '../flag.ts';

/** Which numbers are reported and where they go; `omnimeter report` takes the same flags. */
export const reportFlags = {
  'percentile-metrics': {
    group: 'Report',
    kind: 'comma-list',
    default: null,
    common: true,
    placeholder: 'A,B,…',
    defaultDoc: 'ttft,tpot,itl',
    doc: 'Metrics to report with percentiles.',
  },
  'metric-percentiles': {
    group: 'Report',
    kind: 'comma-list',
    default: ['99'],
    placeholder: 'P,P,…',
    doc: 'Percentiles to report, 0 to 100.',
  },
  goodput: {
    group: 'Report',
    kind: 'pairs',
    separator: ':',
    syntaxError:
      'Invalid format found for service level objectives. Specify service level objectives for goodput as "KEY:VALUE" pairs, where the key is a metric name, and the value is a number in milliseconds.',
    default: null,
    placeholder: 'KEY:VALUE …',
    doc: 'Service level objectives: a request that meets all of them counts as good. Values in ms; audio_rtf is a ratio.',
  },
  'print-stage': {
    group: 'Report',
    kind: 'boolean',
    default: false,
    common: true,
    doc: 'Report every stage of the pipeline too, and ask the server for stage metrics.',
  },
  'save-result': {
    group: 'Report',
    kind: 'boolean',
    default: false,
    common: true,
    doc: 'Write the result as JSON.',
  },
  'save-detailed': {
    group: 'Report',
    kind: 'boolean',
    default: false,
    doc: 'Put per-request values into the JSON: lengths, latencies, texts, errors.',
  },
  'append-result': {
    group: 'Report',
    kind: 'boolean',
    default: false,
    doc: 'Append the JSON as a line to an existing file.',
  },
  'result-dir': {
    group: 'Report',
    kind: 'path',
    default: null,
    defaultDoc: 'the current folder',
    doc: 'Folder of the JSON file; made where it is missing.',
  },
  'result-filename': {
    group: 'Report',
    kind: 'string',
    default: null,
    defaultDoc: '{label or backend}-{rate}qps[-concurrency{N}]-{model}-{date}.json',
    doc: 'Name of the JSON file.',
  },
  html: {
    group: 'Report',
    kind: 'path',
    default: null,
    common: true,
    placeholder: 'FILE',
    doc: 'Write the report as one HTML file that opens in any browser and needs no network.',
  },
  'plot-timeline': {
    group: 'Report',
    kind: 'boolean',
    default: false,
    doc: 'Draw when each request waited and when its tokens came: an HTML page beside the JSON, …timeline.html.',
  },
  'timeline-itl-thresholds': {
    group: 'Report',
    kind: 'comma-list',
    default: ['25', '50'],
    placeholder: 'MS,MS',
    doc: 'Gaps between tokens below the first are green in the timeline, below the second orange, longer ones red.',
  },
  'plot-dataset-stats': {
    group: 'Report',
    kind: 'boolean',
    default: false,
    doc: 'Draw how long prompts and outputs are: SVG and PNG beside the JSON, …dataset_stats.png.',
  },
  label: {
    group: 'Report',
    kind: 'string',
    default: null,
    defaultDoc: 'the backend',
    doc: 'Label of the run, used in the file name.',
  },
  metadata: {
    group: 'Report',
    kind: 'pairs',
    separator: '=',
    syntaxError: 'Invalid metadata format. Please use KEY=VALUE format.',
    default: null,
    placeholder: 'KEY=VALUE …',
    doc: 'Facts to store in the JSON, as text.',
  },
  ...thresholdFlags,
} as const satisfies FlagTable;

/** Flags of a run that a stored run no longer needs. */
export const runFlags = {
  'run-dir': {
    group: 'Report',
    kind: 'path',
    default: null,
    defaultDoc: 'a folder under the system’s temporary directory',
    doc: 'Folder that every finished record is written to at once; `omnimeter report DIR` makes any report from it.',
  },
  'no-journal': {
    group: 'Report',
    kind: 'boolean',
    default: false,
    doc: 'Write no run folder.',
  },
  'no-live': {
    group: 'Report',
    kind: 'boolean',
    default: false,
    doc: 'Show progress as one line, without rates, latencies, stages and failures.',
  },
  'disable-tqdm': {
    group: 'Report',
    kind: 'boolean',
    default: false,
    aliases: ['--disable-progress'],
    doc: 'Show no progress.',
  },
} as const satisfies FlagTable;
