import type { FlagTable } from '../flag.ts';

/** Simple lists of load; `bench serve` takes them too, and then goes through them by itself. */
export const loadListFlags = {
  'sweep-max-concurrency': {
    group: 'Sweep',
    kind: 'comma-list',
    default: null,
    placeholder: 'N,N,…',
    doc: 'Measure at each of these concurrencies.',
  },
  'sweep-request-rate': {
    group: 'Sweep',
    kind: 'comma-list',
    default: null,
    placeholder: 'R,R,…',
    doc: 'Measure at each of these request rates, per second; inf is one of them.',
  },
  'sweep-num-prompts-factor': {
    group: 'Sweep',
    kind: 'positive-int',
    default: null,
    defaultDoc: '--num-prompts for all',
    doc: 'Send this many requests for each slot of --sweep-max-concurrency, so that all levels take about as long.',
  },
} as const satisfies FlagTable;

/** How often each combination is measured. */
export const numRunsFlag = {
  'num-runs': {
    group: 'Sweep',
    kind: 'positive-int',
    default: 1,
    doc: 'Measure this many times; the table gives mean, deviation and range over the runs.',
  },
} as const satisfies FlagTable;

/** What `serve` and `serve_workload` of `bench sweep` have in common. */
const sweepFlags = {
  'serve-cmd': {
    group: 'Commands',
    kind: 'string',
    default: null,
    common: true,
    defaultDoc: 'a server that is running',
    doc: 'Command that starts the server, such as "vllm serve MODEL"; omnimeter serve is this program.',
  },
  'bench-cmd': {
    group: 'Commands',
    kind: 'string',
    default: null,
    common: true,
    doc: 'Command that measures it: "omnimeter bench serve …". "vllm bench serve …" is understood as that.',
  },
  'after-bench-cmd': {
    group: 'Commands',
    kind: 'string',
    default: null,
    defaultDoc: "empty the caches of --serve-cmd's server",
    doc: 'Command to run after each benchmark.',
  },
  'show-stdout': {
    group: 'Commands',
    kind: 'boolean',
    default: false,
    common: true,
    doc: 'Show what the commands print. Without it the last lines of one that fails are shown.',
  },
  'server-ready-timeout': {
    group: 'Commands',
    kind: 'positive-float',
    default: 300,
    doc: 'How long a server may take until GET /health answers with 200, s.',
  },
  'serve-params': {
    group: 'Settings',
    kind: 'existing-file',
    default: null,
    common: true,
    doc: 'JSON file of settings for the server: a list of objects, or an object of objects by name.',
  },
  'bench-params': {
    group: 'Settings',
    kind: 'existing-file',
    default: null,
    common: true,
    doc: 'JSON file of settings for the benchmark. Every setting of one goes with every setting of the other.',
  },
  'link-vars': {
    group: 'Settings',
    kind: 'string',
    default: '',
    placeholder: 'A=B,…',
    doc: 'Take only combinations in which parameter A of the server equals B of the benchmark.',
  },
  'output-dir': {
    group: 'Experiment',
    kind: 'path',
    default: 'results',
    common: true,
    aliases: ['-o'],
    doc: 'Folder of experiments.',
  },
  'experiment-name': {
    group: 'Experiment',
    kind: 'string',
    default: null,
    common: true,
    aliases: ['-e'],
    defaultDoc: 'date and time',
    doc: 'Folder of this experiment below --output-dir.',
  },
  'num-runs': {
    group: 'Experiment',
    kind: 'positive-int',
    default: 3,
    common: true,
    doc: 'Times that each combination is measured.',
  },
  'warmup-num-prompts': {
    group: 'Experiment',
    kind: 'int',
    default: 0,
    min: 0,
    doc: 'Requests of an unmeasured run before those of each combination; 0 for none.',
  },
  'continue-on-error': {
    group: 'Experiment',
    kind: 'boolean',
    default: false,
    doc: 'Write failures to files and go on; the exit code is 1 then.',
  },
  'dry-run': {
    group: 'Experiment',
    kind: 'boolean',
    default: false,
    common: true,
    doc: 'Print every command, each on one line, and start none.',
  },
  resume: {
    group: 'Experiment',
    kind: 'boolean',
    default: false,
    common: true,
    doc: 'Go on with an experiment that exists; what is done is not measured again.',
  },
} as const satisfies FlagTable;

/** The flags of `bench sweep serve`. */
export const sweepServeFlags = { ...sweepFlags, ...loadListFlags } as const satisfies FlagTable;

/** The flags of `bench sweep serve_workload`. */
export const sweepWorkloadFlags = {
  ...sweepFlags,
  'workload-var': {
    group: 'Workload',
    kind: 'choice',
    choices: ['request_rate', 'max_concurrency'],
    default: 'request_rate',
    common: true,
    doc: 'What is explored, from 1 to --num-prompts.',
  },
  'workload-iters': {
    group: 'Workload',
    kind: 'int',
    default: 10,
    min: 2,
    common: true,
    doc: 'Levels to measure, the two ends among them.',
  },
} as const satisfies FlagTable;
