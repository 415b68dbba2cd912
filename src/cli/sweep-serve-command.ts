import { UsageError } from '../foundation/errors.ts';
import { type Command, flagsOrHelp } from './command.ts';
import { sweepServeFlags, sweepWorkloadFlags } from './flags/sweep/sweep-flags.ts';
import { checkSweepCommands } from './sweep/check-sweep-commands.ts';
import { sweepOptions, withLists } from './sweep/sweep-command-options.ts';

/** `omnimeter bench sweep serve`. */
export const sweepServeCommand: Command = {
  async help() {
    return {
      usage: 'bench sweep serve [flags]',
      summary:
        'Measures a server under every combination of its settings and those of the benchmark, several times each. Every result is a file; a sweep that was stopped goes on where it was.',
      table: sweepServeFlags,
    };
  },
  async run(argv, context) {
    const parsed = await flagsOrHelp(argv, sweepServeFlags, sweepServeCommand, context);
    if (parsed === null) return 0;
    noPositionals(parsed.positionals, 'bench sweep serve');
    const options = withLists(
      sweepOptions(parsed.values, { command: ['bench', 'sweep', 'serve', ...argv], now: new Date() }),
      parsed.values,
    );
    await checkSweepCommands(options, context.env);
    // Lazy, as every command's own work is.
    const { runSweep } = await import('../bench/sweep/run-sweep.ts');
    const { sweepTable } = await import('../report/sweep/sweep-table.ts');
    const { exitCode, combinations } = await runSweep(options, context.io);
    for (const line of sweepTable(combinations)) context.io.stdout(line);
    if (!options.dryRun) context.io.stderr(`Results are in ${options.experimentDir}`);
    return exitCode;
  },
};

/** `omnimeter bench sweep serve_workload`. */
export const sweepWorkloadCommand: Command = {
  async help() {
    return {
      usage: 'bench sweep serve_workload [flags]',
      summary:
        'Explores the range between one request at a time and as many as --num-prompts: measures both ends, works out where the load lies, and measures levels in between.',
      table: sweepWorkloadFlags,
    };
  },
  async run(argv, context) {
    const parsed = await flagsOrHelp(argv, sweepWorkloadFlags, sweepWorkloadCommand, context);
    if (parsed === null) return 0;
    noPositionals(parsed.positionals, 'bench sweep serve_workload');
    const { values: flags } = parsed;
    const command = ['bench', 'sweep', 'serve_workload', ...argv];
    const options = sweepOptions(flags, { command, now: new Date() });
    await checkSweepCommands(options, context.env);
    // Lazy, as every command's own work is.
    const { runWorkloadSweep } = await import('../bench/sweep/run-workload-sweep.ts');
    const { sweepTable } = await import('../report/sweep/sweep-table.ts');
    const workload = { variable: flags['workload-var'], iterations: flags['workload-iters'] };
    const { exitCode, combinations } = await runWorkloadSweep(options, workload, context.io);
    for (const line of sweepTable(combinations)) context.io.stdout(line);
    if (!options.dryRun) context.io.stderr(`Results are in ${options.experimentDir}`);
    return exitCode;
  },
};

function noPositionals([extra]: readonly string[], command: string): void {
  if (extra !== undefined)
    throw new UsageError(`unexpected argument '${extra}'. ${command} takes flags only; see --help.`);
}
