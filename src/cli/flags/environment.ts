import { UsageError } from '../../foundation/errors.ts';
import { environmentName, type FlagTable, type FlagValue, takesMany } from './flag.ts';
import { parseFlagValue } from './flag-value.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads flags from `OMNIMETER_<FLAG>` variables. Lists are separated by white space, or written as a JSON list where
 * an element holds white space. An empty variable counts as not set.
 * @throws UsageError for a value that does not parse, naming the variable
 */
export function readEnvironment(env: Environment, table: FlagTable): Map<string, FlagValue> {
  const values = new Map<string, FlagValue>();
  for (const [name, flag] of Object.entries(table)) {
    const variable = environmentName(name);
    const text = env[variable];
    if (text === undefined || text === '') continue;
    const texts = takesMany(flag) || flag.kind === 'repeated' ? splitList(text, variable) : [text];
    values.set(name, parseFlagValue(flag, texts, variable));
  }
  return values;
}

function splitList(text: string, variable: string): string[] {
  if (!text.trimStart().startsWith('[')) return text.split(/\s+/).filter((part) => part !== '');
  try {
    const list: unknown = JSON.parse(text);
    if (Array.isArray(list)) return list.map(String);
  } catch {
    // Falls through to the message: a text that begins with [ was meant as a list.
  }
  throw new UsageError(`${variable}: '${text}' is not a JSON list.`);
}
