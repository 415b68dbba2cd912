import { readFileSync } from 'node:fs';
import { InputFileError, messageOf } from '../../foundation/errors.ts';
import { parseTolerantJson } from '../../foundation/tolerant-json.ts';

/** One setting of parameters: keys as in the file, `_benchmark_name` among them where the setting has a name. */
export type ParameterItem = Readonly<Record<string, unknown>>;

const nameKey = '_benchmark_name';

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Reads the settings to go through: a list of objects, or an object of objects by name. `null` is one setting that
 * changes nothing.
 * @throws InputFileError for anything else, and for two settings of one name
 */
export function readParameterFile(path: string | null): ParameterItem[] {
  if (path === null) return [{}];
  let data: unknown;
  try {
    data = parseTolerantJson(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new InputFileError(`${path}: cannot be read as JSON (${messageOf(cause)}).`, { cause });
  }
  const items = isObject(data)
    ? Object.entries(data).map(([name, item]) => (isObject(item) ? { [nameKey]: name, ...item } : item))
    : data;
  if (!Array.isArray(items) || items.length === 0)
    throw new InputFileError(
      `${path}: expected a list of objects, or an object of objects by name, with at least one.`,
    );
  const settings: ParameterItem[] = items.map((item: unknown, i) => {
    if (isObject(item)) return item;
    throw new InputFileError(`${path}: setting ${i} is ${JSON.stringify(item)}, expected an object.`);
  });
  const names = settings.map(itemName);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined)
    throw new InputFileError(
      `${path}: two settings are named '${twice}'. Their results would share a folder.`,
    );
  return settings;
}

/** The parameters of a setting, without its name. */
export function parametersOf(item: ParameterItem): [key: string, value: unknown][] {
  return Object.entries(item).filter(([key]) => key !== nameKey);
}

/** A value as it stands in names and on command lines. */
export function parameterText(value: unknown): string {
  if (value === Number.POSITIVE_INFINITY) return 'inf';
  if (value === Number.NEGATIVE_INFINITY) return '-inf';
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

/** The name of a setting: its own, else its parameters as `k=v-k=v`; empty where it changes nothing. */
export function itemName(item: ParameterItem): string {
  const own = item[nameKey];
  if (own !== undefined) return parameterText(own);
  return parametersOf(item)
    .map(([key, value]) => `${key}=${parameterText(value)}`)
    .join('-');
}

/** The spellings under which a parameter may be known: `_` and `-` are the same before the first dot. */
export function spellingsOf(key: string): string[] {
  const dot = key.indexOf('.');
  const head = dot < 0 ? key : key.slice(0, dot);
  const rest = dot < 0 ? '' : key.slice(dot);
  return [...new Set([head, head.replaceAll('-', '_'), head.replaceAll('_', '-')])].map(
    (name) => name + rest,
  );
}

/** The value of a parameter under any of its spellings. */
export function parameterValue(item: ParameterItem, key: string): unknown {
  const found = spellingsOf(key).find((name) => Object.hasOwn(item, name));
  return found === undefined ? undefined : item[found];
}
