import { existsSync } from 'node:fs';
import { type ExportFormat, exportFormats } from '../bench/serve/export-formats.ts';
import type { ReportOverrides } from '../bench/serve/options.ts';
import { checkOutputs } from '../foundation/check-outputs.ts';
import { InputFileError, UsageError } from '../foundation/errors.ts';
import { nearestName } from '../foundation/nearest-name.ts';
import { runFiles } from '../records/journal.ts';
import { reportOutputs } from './bench-serve/output-files.ts';
import {
  goodput,
  metadata,
  metricPercentiles,
  percentileMetrics,
  plots,
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
  export: {
    group: 'Export',
    kind: 'comma-list',
    default: null,
    common: true,
    placeholder: 'FORMAT,…',
    doc: 'Write the run in other forms: csv, jsonl and parquet (a row per request), aiperf (summary and records), guidellm, llmd (llm-d Benchmark Report v0.2.1).',
  },
  output: {
    group: 'Export',
    kind: 'path',
    default: null,
    common: true,
    defaultDoc: 'the current folder',
    doc: 'File of --export, or the folder of several; llmd is YAML where the file ends in .yaml.',
  },
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
    const formats = exportFormatsOf(parsed.values.export ?? []);
    if (formats.length === 0 && parsed.values.output !== null)
      throw new UsageError('--output goes with --export, which is not given.');
    const changes = overrides(parsed.values, parsed.explicit);
    const output = parsed.values.output;
    // Lazy, as every command's own work is.
    const { exportPaths, exportRun } = await import('../bench/serve/export-run.ts');
    checkOutputs(
      [
        ...reportOutputs(changes),
        ...exportPaths({ formats, output }).map((path) => ({ flag: '--output', path })),
      ],
      runFiles(folder),
    );
    const { reportRun } = await import('../bench/serve/report-run.ts');
    const { exitCode } = await reportRun(folder, changes, context.io);
    if (formats.length > 0) await exportRun(folder, { formats, output }, context.io);
    return exitCode;
  },
};

/** @throws UsageError that lists the formats and names the nearest */
function exportFormatsOf(names: readonly string[]): ExportFormat[] {
  return [...new Set(names)].map((name) => {
    const format = exportFormats.find((each) => each === name);
    if (format !== undefined) return format;
    const nearest = nearestName(name, exportFormats);
    const slip = nearest === null ? '' : ` Did you mean ${nearest}?`;
    throw new UsageError(`--export: '${name}' is no format.${slip}\nAllowed: ${exportFormats.join(', ')}`);
  });
}

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
    ...plots(flags),
    thresholds: thresholds(flags.threshold ?? []),
  };
}
