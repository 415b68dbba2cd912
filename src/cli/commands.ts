import type { Command } from './command.ts';

/** A command's name, what it does, and how to load it. Each is loaded when called, so that `--help` stays quick. */
export type CommandEntry = {
  readonly name: readonly string[];
  readonly summary: string;
  load(): Promise<Command>;
};

export const commands: readonly CommandEntry[] = [
  {
    name: ['demo'],
    summary: 'serve a model, measure it and print the report, in under a minute',
    load: async () => (await import('./demo-command.ts')).demoCommand,
  },
  {
    name: ['bench', 'serve'],
    summary: 'measure a running model server',
    load: async () => (await import('./bench-serve-command.ts')).benchServeCommand,
  },
  {
    name: ['bench', 'sweep', 'serve'],
    summary: 'measure a server under many settings',
    load: async () => (await import('./sweep-serve-command.ts')).sweepServeCommand,
  },
  {
    name: ['bench', 'sweep', 'serve_workload'],
    summary: 'explore a server from one request at a time to many',
    load: async () => (await import('./sweep-serve-command.ts')).sweepWorkloadCommand,
  },
  {
    name: ['bench', 'sweep', 'plot'],
    summary: "draw curves from a sweep's results",
    load: async () => (await import('./sweep-plot-command.ts')).sweepPlotCommand,
  },
  {
    name: ['bench', 'sweep', 'plot_pareto'],
    summary: 'draw what users get against what GPUs give',
    load: async () => (await import('./sweep-plot-command.ts')).sweepParetoCommand,
  },
  {
    name: ['bench', 'cases'],
    summary: 'run the benchmarks of a case file, with their servers and conditions',
    load: async () => (await import('./bench-cases-command.ts')).benchCasesCommand,
  },
  {
    name: ['bench', 'omni-duplex-eval'],
    summary: 'play Omni-DuplexEval to a full-duplex model, and judge what it says',
    load: async () => (await import('./duplex-eval-command.ts')).duplexEvalCommand,
  },
  {
    name: ['serve'],
    summary: 'serve an omni model with simulated engines',
    load: async () => (await import('./serve-command.ts')).serveCommand,
  },
  {
    name: ['report'],
    summary: 'print the report of a stored run',
    load: async () => (await import('./report-command.ts')).reportCommand,
  },
  {
    name: ['compare'],
    summary: 'compare runs with a baseline, and judge the change',
    load: async () => (await import('./compare-command.ts')).compareCommand,
  },
  {
    name: ['accuracy', 'omniinteract', 'evaluate'],
    summary: 'judge what a model said in OmniInteract conversations',
    load: async () => (await import('./accuracy-omniinteract-command.ts')).omniInteractEvaluateCommand,
  },
  {
    name: ['accuracy', 'omniinteract', 'aggregate'],
    summary: 'pool evaluations of several runs, and judge the score of all',
    load: async () => (await import('./accuracy-omniinteract-command.ts')).omniInteractAggregateCommand,
  },
];
