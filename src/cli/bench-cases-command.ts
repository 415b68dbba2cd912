import { UsageError } from '../foundation/errors.ts';
import { checkBenchServe } from './bench-serve-command.ts';
import { type Command, flagsOrHelp } from './command.ts';
import { casesFlags } from './flags/cases/cases-flags.ts';
import { expandHome } from './flags/flag-value.ts';
import { benchCommand, serveCommand } from './sweep/sweep-command-options.ts';

/** `omnimeter bench cases FILE`. */
export const benchCasesCommand: Command = {
  async help() {
    return {
      usage: 'bench cases FILE [flags]',
      summary:
        'Runs the benchmarks of a case file: starts the servers that each needs, waits until they are ready, measures, judges the results by conditions and baselines, and stops the servers. Exit code 3 where a condition does not hold, 1 where a case did not run.',
      table: casesFlags,
    };
  },
  async run(argv, context) {
    const parsed = await flagsOrHelp(argv, casesFlags, benchCasesCommand, context);
    if (parsed === null) return 0;
    const { values: flags, positionals } = parsed;
    const [file, extra] = positionals;
    if (file === undefined || extra !== undefined)
      throw new UsageError(`bench cases takes one case file, got ${positionals.length}.`);
    // Lazy, as every command's own work is.
    const { runCases } = await import('../bench/cases/run-cases.ts');
    const { exitCode } = await runCases(
      {
        file: expandHome(file),
        resultsDir: flags['results-dir'] ?? (context.env.BENCHMARK_DIR || 'case-results'),
        choice: {
          labels: flags.label ?? [],
          types: flags.type ?? [],
          modelTypes: flags['model-type'] ?? [],
        },
        dryRun: flags['dry-run'],
        keepGoing: !flags['stop-on-failure'],
        env: context.env,
        programs: {
          bench: (words) => benchCommand(['vllm', 'bench', 'serve', ...words]),
          server: serveCommand,
          check: checkBenchServe,
        },
      },
      context.io,
    );
    return exitCode;
  },
};
