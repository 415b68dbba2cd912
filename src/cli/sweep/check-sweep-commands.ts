import { applyParameters } from '../../bench/sweep/apply-parameters.ts';
import { areLinked } from '../../bench/sweep/combinations.ts';
import { itemName, type ParameterItem } from '../../bench/sweep/parameter-file.ts';
import type { SweepCommand, SweepOptions } from '../../bench/sweep/sweep-options.ts';
import { InputFileError, UsageError } from '../../foundation/errors.ts';
import { benchServeOptions } from '../bench-serve/bench-serve-options.ts';
import { allBenchServeFlags } from '../flags/bench-serve/bench-serve-flags.ts';
import type { Environment } from '../flags/environment.ts';
import { parseFlags } from '../flags/parse-flags.ts';
import { allServeFlags } from '../flags/serve/serve-flags.ts';

/** Checks what follows the command's name. */
type Check = (argv: readonly string[]) => Promise<void>;

/**
 * Checks the flags of every command that the sweep would start, where that is this very program: a slip in a parameter
 * file shows before hours have been measured. Of other programs nothing is known.
 * @throws UsageError, InputFileError that name the setting
 */
export async function checkSweepCommands(options: SweepOptions, env: Environment): Promise<void> {
  const { serve, bench, serveItems, benchItems, links } = options;
  const linkedServe = serveItems.filter((item) => benchItems.some((other) => areLinked(item, other, links)));
  const linkedBench = benchItems.filter((item) => serveItems.some((other) => areLinked(other, item, links)));
  if (serve !== null) await checkItems(serve, linkedServe, { flag: '--serve-params', env });
  await checkItems(bench, linkedBench, { flag: '--bench-params', env });
}

async function checkItems(
  command: SweepCommand,
  items: readonly ParameterItem[],
  { flag, env }: { readonly flag: string; readonly env: Environment },
): Promise<void> {
  if (command.program === null) return;
  for (const item of items) {
    const words = applyParameters(command.words, item);
    const [, first, second] = words;
    const checked =
      first === 'serve'
        ? { argv: words.slice(2), check: serveCheck(env) }
        : first === 'bench' && second === 'serve'
          ? { argv: words.slice(3), check: benchServeCheck(env) }
          : null;
    if (checked === null) continue;
    try {
      await checked.check(checked.argv);
    } catch (error) {
      if (!(error instanceof UsageError || error instanceof InputFileError)) throw error;
      const name = itemName(item);
      const where = name === '' ? `'${words.slice(0, 3).join(' ')} …'` : `${flag}, setting '${name}'`;
      throw new UsageError(`${where}: ${error.message}`, { cause: error });
    }
  }
}

function serveCheck(env: Environment): Check {
  return async (argv) => void (await parseFlags(argv, allServeFlags, env));
}

function benchServeCheck(env: Environment): Check {
  return async (argv) => {
    const parsed = await parseFlags(argv, allBenchServeFlags, env);
    if (parsed.kind === 'help') return;
    const [extra] = parsed.positionals;
    if (extra !== undefined)
      throw new UsageError(`unexpected argument '${extra}'. bench serve takes flags only; see --help.`);
    // Lazy: a sweep of other programs has no use for adapters and datasets.
    const [{ endpoints }, { datasets }] = await Promise.all([
      import('../../endpoints/registry.ts'),
      import('../../workloads/datasets.ts'),
    ]);
    benchServeOptions(parsed.values, parsed.explicit, { argv, env, endpoints, datasets, runHex: '00000000' });
  };
}
