import { randomBytes } from 'node:crypto';
import { UsageError } from '../foundation/errors.ts';
import { goodputKeys } from '../metrics/goodput.ts';
import { percentileMetrics } from '../metrics/percentile-metrics.ts';
import { benchServeOptions, type ProducedOptions } from './bench-serve/bench-serve-options.ts';
import { asksForRuns, listedBench, listNotes } from './bench-serve/listed-bench.ts';
import { type Command, type CommandContext, flagsOrHelp } from './command.ts';
import { allBenchServeFlags } from './flags/bench-serve/bench-serve-flags.ts';
import type { Environment } from './flags/environment.ts';
import { type ParsedFlags, parseFlags } from './flags/parse-flags.ts';

const summary =
  'Measures a running model server: sends the requests of a dataset on a schedule, and reports latencies, throughput and, with --omni, speech, images and pipeline stages.';

/** `omnimeter bench serve`. */
export const benchServeCommand: Command = {
  async help() {
    const { endpoints, datasets } = await registries();
    return {
      usage: 'bench serve [flags]',
      summary,
      table: allBenchServeFlags,
      values: {
        backend: Object.entries(endpoints).map(([name, { doc }]) => ({ name, doc })),
        'dataset-name': Object.entries(datasets).map(([name, { doc }]) => ({ name, doc })),
        'percentile-metrics': percentileMetrics,
        goodput: goodputKeys,
      },
    };
  },
  async run(argv, context) {
    const parsed = await flagsOrHelp(argv, allBenchServeFlags, benchServeCommand, context);
    if (parsed === null) return 0;
    const { options, notes } = await optionsOf(parsed, argv, context.env);
    for (const note of notes) context.io.stderr(`note: ${note}`);
    if (asksForRuns(parsed.values)) return runLists(argv, parsed.values, context);
    // Lazy: the load engine is not needed to find a mistake in the flags, or to show help.
    const { runBenchServe } = await import('../bench/serve/run-bench-serve.ts');
    return (await runBenchServe(options, context.io)).exitCode;
  },
};

async function optionsOf(
  { values, explicit, positionals }: ParsedFlags<typeof allBenchServeFlags>,
  argv: readonly string[],
  env: Environment,
): Promise<ProducedOptions> {
  const [extra] = positionals;
  if (extra !== undefined)
    throw new UsageError(`unexpected argument '${extra}'. bench serve takes flags only; see --help.`);
  return benchServeOptions(values, explicit, {
    argv,
    env,
    ...(await registries()),
    runHex: randomBytes(4).toString('hex'),
  });
}

/**
 * Whether `bench serve` would take these arguments, as far as can be seen before anything is opened or sent.
 * @throws UsageError, InputFileError as it would
 */
export async function checkBenchServe(argv: readonly string[], env: Environment): Promise<void> {
  const parsed = await parseFlags(argv, allBenchServeFlags, env);
  if (parsed.kind === 'help') throw new UsageError('--help measures nothing. Leave it out.');
  await optionsOf(parsed, argv, env);
}

/** More than one run: each a process of its own, and a table of all at the end. */
async function runLists(
  argv: readonly string[],
  flags: Parameters<typeof listedBench>[1],
  { io }: CommandContext,
): Promise<number> {
  const options = listedBench(argv, flags, new Date());
  for (const note of listNotes(flags)) io.stderr(`note: ${note}`);
  // Lazy, as the load engine is.
  const { runSweep } = await import('../bench/sweep/run-sweep.ts');
  const { sweepTable } = await import('../report/sweep/sweep-table.ts');
  const { exitCode, combinations } = await runSweep(options, io);
  for (const line of sweepTable(combinations)) io.stdout(line);
  io.stderr(`Results are in ${options.experimentDir}`);
  return exitCode;
}

/** Lazy: adapters and datasets cost start-up time that other commands should not pay. */
async function registries() {
  const [{ endpoints }, { datasets }] = await Promise.all([
    import('../endpoints/registry.ts'),
    import('../workloads/datasets.ts'),
  ]);
  return { endpoints, datasets };
}
