import { UsageError } from '../foundation/errors.ts';
import { type Command, flagsOrHelp } from './command.ts';
import { expandHome } from './flags/flag-value.ts';
import { sweepParetoFlags, sweepPlotFlags } from './flags/sweep/plot-flags.ts';

/** `omnimeter bench sweep plot DIR`. */
export const sweepPlotCommand: Command = {
  async help() {
    return {
      usage: 'bench sweep plot DIR [flags]',
      summary:
        "Draws curves from a sweep's results: PNG and SVG figures below the folder, and a page with all of them and the Pareto front.",
      table: sweepPlotFlags,
    };
  },
  async run(argv, context) {
    const parsed = await flagsOrHelp(argv, sweepPlotFlags, sweepPlotCommand, context);
    if (parsed === null) return 0;
    const { values: flags } = parsed;
    const figDir = flags['fig-dir'];
    if (figDir.startsWith('/') || figDir.split('/').includes('..'))
      throw new UsageError(`--fig-dir: '${figDir}' is not below the folder of the sweep.`);
    // Lazy: the image library is not needed to find a mistake in the flags, or to show help.
    const { plotSweep } = await import('../bench/sweep/plot-sweep.ts');
    await plotSweep(
      {
        dir: oneFolder(parsed.positionals, 'bench sweep plot'),
        figDir,
        figBy: flags['fig-by'] ?? [],
        rowBy: flags['row-by'] ?? [],
        colBy: flags['col-by'] ?? [],
        curveBy: flags['curve-by'] ?? [],
        varX: flags['var-x'],
        varY: flags['var-y'],
        filterBy: flags['filter-by'],
        binBy: flags['bin-by'],
        scaleX: flags['scale-x'],
        scaleY: flags['scale-y'],
        figName: flags['fig-name'],
        dryRun: flags['dry-run'],
      },
      context.io,
    );
    return 0;
  },
};

/** `omnimeter bench sweep plot_pareto DIR`. */
export const sweepParetoCommand: Command = {
  async help() {
    return {
      usage: 'bench sweep plot_pareto DIR [flags]',
      summary:
        'Draws tokens per second and user against tokens per second and GPU, and the front of runs that none beats in both.',
      table: sweepParetoFlags,
    };
  },
  async run(argv, context) {
    const parsed = await flagsOrHelp(argv, sweepParetoFlags, sweepParetoCommand, context);
    if (parsed === null) return 0;
    const { values: flags } = parsed;
    const { plotPareto } = await import('../bench/sweep/plot-sweep.ts');
    await plotPareto(
      oneFolder(parsed.positionals, 'bench sweep plot_pareto'),
      {
        userCountVar: flags['user-count-var'],
        gpuCountVar: flags['gpu-count-var'],
        dryRun: flags['dry-run'],
      },
      context.io,
    );
    return 0;
  },
};

function oneFolder([folder, extra]: readonly string[], command: string): string {
  if (folder === undefined)
    throw new UsageError(`${command} needs the folder of a sweep: omnimeter ${command} DIR.`);
  if (extra !== undefined)
    throw new UsageError(`unexpected argument '${extra}'. ${command} takes one folder.`);
  return expandHome(folder);
}
