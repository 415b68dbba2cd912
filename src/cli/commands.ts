import type { Command } from './command.ts';

/** A command's name, what it does, and how to load it. Each is loaded when called, so that `--help` stays quick. */
export type CommandEntry = {
  readonly name: readonly string[];
  readonly summary: string;
  load(): Promise<Command>;
};

export const commands: readonly CommandEntry[] = [
  {
    name: ['bench', 'serve'],
    summary: 'measure a running model server',
    load: async () => (await import('./bench-serve-command.ts')).benchServeCommand,
  },
];
