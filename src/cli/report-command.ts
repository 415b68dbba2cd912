import { existsSync } from 'node:fs';
import type { ReportOverrides } from '../bench/serve/options.ts';
import { InputFileError, UsageError } from '../foundation/errors.ts';
import {
  goodput,
  metadata,
  metricPercentiles,
  percentileMetrics,
  thresholds,
} from './bench-serve/report-options.ts';
import { type Command, flagsOrHelp } from './command.ts';
import { reportFlags } from './flags/bench-serve/report-flags.ts';
import type { FlagTable, FlagValues } from './flags/flag.ts';
import { expandHome } from './flags/flag-value.ts';

export const reportCommandFlags = {
  config: {
    group: 'Report',
    kind: 'path',
    default: null,
    placeholder: 'FILE',
    doc: 'YAML file of flags by name. The environment and the command line win over it.',
  },
  ...reportFlags,
} as const satisfies FlagTable;

/** `omnimeter report DIR`. */
export const reportCommand: Command = {
  async help() {
    return {
      usage: 'report DIR [flags]',
      summary:
        'Prints the report of a stored run from its records, also of one that was killed. Flags that are not given are those of the run.',
      table: reportCommandFlags,
    };
  },
  async run(argv, context) {
    const parsed = await flagsOrHelp(argv, reportCommandFlags, reportCommand, context);
    if (parsed === null) return 0;
    const [dir, extra] = parsed.positionals;
    if (dir === undefined)
      throw new UsageError(
        'report needs the folder of a run: omnimeter report DIR. `bench serve --run-dir DIR` makes one.',
      );
    if (extra !== undefined) throw new UsageError(`unexpected argument '${extra}'. report takes one folder.`);
    const folder = expandHome(dir);
    if (!existsSync(folder)) throw new InputFileError(`report: there is no folder ${folder}.`);
    // Lazy, as every command's own work is.
    const { reportRun } = await import('../bench/serve/report-run.ts');
    return (await reportRun(folder, overrides(parsed.values, parsed.explicit), context.io)).exitCode;
  },
};

function overrides(
  flags: FlagValues<typeof reportCommandFlags>,
  explicit: ReadonlySet<string>,
): ReportOverrides {
  const metrics = flags['percentile-metrics'];
  return {
    percentileMetrics: metrics === null ? null : percentileMetrics(metrics),
    metricPercentiles: explicit.has('metric-percentiles')
      ? metricPercentiles(flags['metric-percentiles'])
      : null,
    goodput: flags.goodput === null ? null : goodput(flags.goodput),
    printStage: explicit.has('print-stage') ? flags['print-stage'] : null,
    label: flags.label,
    metadata: flags.metadata === null ? null : metadata(flags.metadata),
    saveResult: flags['save-result'],
    saveDetailed: flags['save-detailed'],
    appendResult: flags['append-result'],
    resultDir: flags['result-dir'],
    resultFilename: flags['result-filename'],
    html: flags.html,
    thresholds: thresholds(flags.threshold ?? []),
  };
}
