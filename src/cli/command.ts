import type { CommandIo } from '../bench/serve/options.ts';
import type { Environment } from './flags/environment.ts';
import type { FlagTable } from './flags/flag.ts';
import { type HelpPage, renderHelp } from './flags/help.ts';
import { type ParsedFlags, parseFlags } from './flags/parse-flags.ts';

/** What a command gets from the process. */
export type CommandContext = { readonly env: Environment; readonly io: CommandIo };

/** One command of the program, loaded when it is called. */
export type Command = {
  /** Its help; loads what only help needs. */
  help(): Promise<HelpPage>;
  /**
   * Runs to the end.
   * @param argv what follows the command's name
   * @returns the exit code
   */
  run(argv: readonly string[], context: CommandContext): Promise<number>;
};

/**
 * Parses a command's flags, or prints the help that was asked for.
 * @returns `null` when help was printed and nothing is left to do
 * @throws UsageError as {@link parseFlags} and {@link renderHelp} do
 */
export async function flagsOrHelp<T extends FlagTable>(
  argv: readonly string[],
  table: T,
  command: Command,
  { env, io }: CommandContext,
): Promise<ParsedFlags<T> | null> {
  const result = await parseFlags(argv, table, env);
  if (result.kind === 'values') return result;
  for (const line of renderHelp(await command.help(), result.topic, io.columns)) io.stdout(line);
  return null;
}
