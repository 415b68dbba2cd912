import { applyAssignments } from './apply-assignments.ts';
import { readConfigFile } from './config-file.ts';
import { type Environment, readEnvironment } from './environment.ts';
import type { FlagTable, FlagValue, FlagValues } from './flag.ts';
import { readArguments } from './read-arguments.ts';

export type ParsedFlags<T extends FlagTable> = {
  readonly values: FlagValues<T>;
  /** Flags that the file, the environment or the command line gives. */
  readonly explicit: ReadonlySet<string>;
  readonly positionals: readonly string[];
};

export type ParseResult<T extends FlagTable> =
  | ({ readonly kind: 'values' } & ParsedFlags<T>)
  | { readonly kind: 'help'; readonly topic: string };

/**
 * The values of a command's flags: defaults < `--config` file < environment < command line. A flag given in any of
 * the three counts as given explicitly.
 * @throws UsageError for anything that is not known or does not parse; nothing is ignored
 * @throws InputFileError for a `--config` file that cannot be read
 */
export async function parseFlags<T extends FlagTable>(
  argv: readonly string[],
  table: T,
  env: Environment,
): Promise<ParseResult<T>> {
  const { assignments, positionals, helpTopic } = readArguments(argv, table);
  if (helpTopic !== null) return { kind: 'help', topic: helpTopic };
  const values = new Map<string, FlagValue>();
  for (const [name, flag] of Object.entries(table)) values.set(name, flag.default);
  const explicit = new Set<string>();
  const give = (given: ReadonlyMap<string, FlagValue>): void => {
    for (const [name, value] of given) {
      values.set(name, value);
      explicit.add(name);
    }
  };
  const fromEnvironment = readEnvironment(env, table);
  const config =
    assignments.findLast(({ name }) => name === 'config')?.texts[0] ?? fromEnvironment.get('config');
  if (typeof config === 'string') give(await readConfigFile(config, table));
  give(fromEnvironment);
  give(applyAssignments(assignments, table, values));
  // Every value was made by its flag's own parser, so that the map has the table's types.
  return { kind: 'values', values: Object.fromEntries(values) as FlagValues<T>, explicit, positionals };
}
