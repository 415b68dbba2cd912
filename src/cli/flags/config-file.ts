import { readFileSync } from 'node:fs';
import { InputFileError, messageOf, UsageError } from '../../foundation/errors.ts';
import { nearestName } from '../../foundation/nearest-name.ts';
import { canonicalName, type Flag, type FlagTable, type FlagValue } from './flag.ts';
import { expandHome, isJsonObject, parseFlagValue } from './flag-value.ts';
import { mergeObjects, withMember } from './merge-members.ts';

/** A file's values, and the positionals that it may hold for commands that take one. */
type ConfigEntries = Map<string, FlagValue>;

/**
 * Reads flags from a YAML (or JSON) file: a map from flag names, `_` like `-`, to values. JSON flags take nested
 * maps or `flag.member` keys, list flags take lists, `KEY=VALUE` flags take maps.
 * @throws InputFileError when the file is missing or no YAML
 * @throws UsageError for a key or value that the command does not know, naming the file
 */
export async function readConfigFile(path: string, table: FlagTable): Promise<ConfigEntries> {
  const file = expandHome(path);
  const document = await parseYaml(file);
  const values: ConfigEntries = new Map();
  const keyOf = new Map<string, string>();
  for (const [key, value] of Object.entries(document)) {
    const [name = '', ...members] = key.split('.');
    const canonical = canonicalName(name.replace(/^--/, ''));
    const flag = Object.hasOwn(table, canonical) ? table[canonical] : undefined;
    if (flag === undefined || canonical === 'config') throw unknownKey(file, key, table);
    if (value === null || value === undefined) continue;
    const where = `${file}: ${key}`;
    if (members.length === 0) {
      const other = keyOf.get(canonical);
      if (other !== undefined)
        throw new UsageError(
          `${where}: the file gives ${canonical} already as ${other}. Leave one of them out.`,
        );
      keyOf.set(canonical, key);
    }
    if (members.length > 0) addMember(values, canonical, { flag, members, value, where });
    else values.set(canonical, mergedWith(values.get(canonical), configValue(flag, value, where)));
  }
  return values;
}

async function parseYaml(file: string): Promise<Readonly<Record<string, unknown>>> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new InputFileError(`--config ${file}: cannot be read (${messageOf(error)}).`, { cause: error });
  }
  // Lazy: the parser costs start-up time that only runs with --config should pay.
  const { parse } = await import('yaml');
  let document: unknown;
  try {
    document = parse(text);
  } catch (error) {
    throw new InputFileError(`--config ${file}: not YAML: ${messageOf(error)}`, { cause: error });
  }
  if (document === null || document === undefined) return {};
  if (isJsonObject(document)) return document;
  throw new InputFileError(`--config ${file}: expected a map from flag names to values.`);
}

function unknownKey(file: string, key: string, table: FlagTable): UsageError {
  const names = Object.keys(table).filter((name) => name !== 'config');
  const nearest = nearestName(canonicalName(key), names);
  const slip = nearest === null ? '' : ` Did you mean ${nearest}?`;
  const allowed = names.filter((name) => table[name]?.belongsTo === undefined);
  return new UsageError(`--config ${file}: unknown key "${key}".${slip}\nAllowed keys: ${allowed.join(' ')}`);
}

type Member = { flag: Flag; members: readonly string[]; value: unknown; where: string };

function addMember(values: ConfigEntries, name: string, { flag, members, value, where }: Member): void {
  if (flag.kind !== 'json' && flag.kind !== 'number-or-json')
    throw new UsageError(`${where}: ${name} takes no members.`);
  const present = values.get(name);
  values.set(name, withMember(isJsonObject(present) ? present : {}, members, { value, append: false }));
}

function mergedWith(present: FlagValue | undefined, value: FlagValue): FlagValue {
  return isJsonObject(present) && isJsonObject(value) ? mergeObjects(value, present) : value;
}

function asText(value: unknown, where: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isNaN(value) ? 'nan' : String(value);
  if (typeof value === 'boolean') return String(value);
  throw new UsageError(`${where}: expected a plain value, got ${JSON.stringify(value)}.`);
}

function listTexts(value: unknown, where: string): string[] {
  return (Array.isArray(value) ? value : [value]).map((one) => asText(one, where));
}

/** A YAML value as the texts that the command line would have held, so that one parser judges both. */
function configValue(flag: Flag, value: unknown, where: string): FlagValue {
  switch (flag.kind) {
    case 'json':
    case 'number-or-json':
      return parseFlagValue(flag, [typeof value === 'string' ? value : JSON.stringify(value)], where);
    case 'list':
    case 'repeated':
      return parseFlagValue(flag, listTexts(value, where), where);
    case 'comma-list':
      return parseFlagValue(flag, [listTexts(value, where).join(',')], where);
    case 'pairs': {
      if (!isJsonObject(value)) return parseFlagValue(flag, listTexts(value, where), where);
      return Object.entries(value).map(([key, one]) => [key, asText(one, `${where}.${key}`)] as const);
    }
    case 'string':
      if (flag.takesObject && isJsonObject(value)) return JSON.stringify(value);
      return parseFlagValue(flag, [asText(value, where)], where);
    default:
      return parseFlagValue(flag, [asText(value, where)], where);
  }
}
