import { UsageError } from '../../foundation/errors.ts';
import { nearestName } from '../../foundation/nearest-name.ts';
import { canonicalName, environmentName, type Flag, type FlagTable, takesMembers } from './flag.ts';
import { wrapText } from './wrap-text.ts';

/** What help says of a command beside its flags. */
export type HelpPage = {
  /** After `omnimeter`, e.g. `bench serve [flags]`. */
  readonly usage: string;
  readonly summary: string;
  readonly table: FlagTable;
  /** Allowed values of flags whose values come from a registry, with a sentence each. */
  readonly values?: Readonly<Record<string, readonly { readonly name: string; readonly doc: string }[]>>;
};

/** What stands for a flag's value. */
export function placeholderOf(flag: Flag): string {
  if (flag.placeholder !== undefined) return flag.placeholder;
  switch (flag.kind) {
    case 'boolean':
      return '';
    case 'choice':
      return flag.choices.join('|');
    case 'int':
    case 'positive-int':
      return 'INT';
    case 'float':
    case 'positive-float':
      return 'FLOAT';
    case 'json':
    case 'number-or-json':
      return 'JSON';
    case 'list':
      return 'VALUE …';
    case 'repeated':
      return 'VALUE';
    case 'comma-list':
      return 'A,B,…';
    case 'pairs':
      return `KEY${flag.separator}VALUE …`;
    case 'path':
    case 'existing-file':
      return 'PATH';
    case 'string':
      return 'TEXT';
    default:
      return flag satisfies never;
  }
}

/** How help words a flag's default; an empty string where there is nothing to say. */
export function defaultOf(flag: Flag): string {
  if (flag.defaultDoc !== undefined) return flag.defaultDoc;
  const value = flag.default;
  if (value === null || value === false) return '';
  if (value === true) return 'on';
  if (Array.isArray(value)) return value.join(',');
  return value === Number.POSITIVE_INFINITY ? 'inf' : String(value);
}

/** `--flag PLACEHOLDER` as help and docs write it. */
export function signatureOf(name: string, flag: Flag): string {
  const shown = flag.kind === 'boolean' && flag.default === true ? `--no-${name}` : `--${name}`;
  return `${shown} ${placeholderOf(flag)}`.trimEnd();
}

const signatureWidth = 30;

function flagLines(name: string, flag: Flag, width: number): string[] {
  const fallback = defaultOf(flag);
  const full = `  ${signatureOf(name, flag)}`;
  // Choices that no line has room for stand in the text.
  const isWide = flag.kind === 'choice' && full.length > width;
  const signature = isWide ? `  --${name} NAME` : full;
  const doc = isWide ? `${flag.doc} One of ${flag.choices.join(', ')}.` : flag.doc;
  const text = fallback === '' ? doc : `${doc} (default: ${fallback})`;
  const indent = ' '.repeat(signatureWidth + 2);
  if (signature.length <= signatureWidth)
    return wrapText(text, width, `${signature.padEnd(signatureWidth + 2)}`, indent);
  return [signature, ...wrapText(text, width, indent)];
}

function groupsOf(table: FlagTable): Map<string, [string, Flag][]> {
  const groups = new Map<string, [string, Flag][]>();
  for (const entry of Object.entries(table)) {
    if (entry[1].hidden) continue;
    const group = groups.get(entry[1].group) ?? [];
    groups.set(entry[1].group, group);
    group.push(entry);
  }
  return groups;
}

function groupLines(title: string, flags: readonly [string, Flag][], width: number): string[] {
  return ['', `${title}:`, ...flags.flatMap(([name, flag]) => flagLines(name, flag, width))];
}

function head(page: HelpPage, width: number): string[] {
  return [`usage: omnimeter ${page.usage}`, '', ...wrapText(page.summary, width)];
}

function shortHelp(page: HelpPage, width: number): string[] {
  const groups = groupsOf(page.table);
  const lines = head(page, width);
  for (const [title, flags] of groups) {
    const common = flags.filter(([, flag]) => flag.common);
    if (common.length > 0) lines.push(...groupLines(title, common, width));
  }
  const names = [...groups.keys()].join(', ');
  return [
    ...lines,
    '',
    'More help:',
    '  --help=all                    every flag',
    ...wrapText(`one group: ${names}`, width, '  --help=GROUP'.padEnd(32), ' '.repeat(32)),
    '  --help=FLAG                   one flag, e.g. --help=seed',
  ];
}

function allHelp(page: HelpPage, width: number): string[] {
  const lines = head(page, width);
  for (const [title, flags] of groupsOf(page.table)) lines.push(...groupLines(title, flags, width));
  lines.push(
    '',
    'How flags are written:',
    ...wrapText(
      '`_` and `-` are the same in names. --flag value and --flag=value are the same; --no-flag turns a switch off. Members of a JSON flag can be given one by one (--extra-body.temperature 0.3); --flag+ adds to a list. Every flag can stand in a --config file and in an environment variable (OMNIMETER_ and its name in capitals): defaults < file < environment < command line.',
      width,
      '  ',
    ),
  );
  return lines;
}

function oneFlag(page: HelpPage, name: string, flag: Flag, width: number): string[] {
  const lines = [signatureOf(name, flag), ...wrapText(flag.doc, width, '  ')];
  const say = (label: string, text: string): void => {
    if (text !== '') lines.push(...wrapText(text, width, `  ${label}: `, '    '));
  };
  say('default', defaultOf(flag));
  if (flag.kind === 'choice') say('values', flag.choices.join(', '));
  say('also', (flag.aliases ?? []).join(', '));
  if (flag.kind === 'boolean' && flag.default !== true) say('off', `--no-${name}`);
  if (takesMembers(flag)) say('one member', `--${name}.MEMBER VALUE`);
  say('environment', environmentName(name));
  say('group', flag.group);
  for (const value of page.values?.[name] ?? [])
    lines.push(...wrapText(value.doc, width, `  ${value.name}: `, '    '));
  return lines;
}

function same(a: string, b: string): boolean {
  const plain = (text: string): string => text.toLowerCase().replace(/[\s_-]+/g, '-');
  return plain(a) === plain(b);
}

/**
 * Help on a topic: nothing for the common flags, `all`, a group, a flag with or without dashes, or a word that
 * flags' names contain.
 * @throws UsageError for a topic that is none of these, naming the nearest
 */
export function renderHelp(page: HelpPage, topic: string, columns: number): string[] {
  const width = Math.max(60, Math.min(columns, 110));
  if (topic === '') return shortHelp(page, width);
  if (topic.toLowerCase() === 'all') return allHelp(page, width);
  const groups = groupsOf(page.table);
  for (const [title, flags] of groups)
    if (same(title, topic)) return groupLines(title, flags, width).slice(1);
  const wanted = canonicalName(topic.replace(/^-+/, '')).toLowerCase();
  const found = Object.entries(page.table).find(
    ([name, flag]) => name === wanted || flag.aliases?.some((alias) => alias.replace(/^-+/, '') === wanted),
  );
  if (found !== undefined) return oneFlag(page, found[0], found[1], width);
  const matching = Object.entries(page.table).filter(([name]) => wanted !== '' && name.includes(wanted));
  if (matching.length > 0) return groupLines(`Flags with "${topic}"`, matching, width).slice(1);
  const topics = ['all', ...groups.keys(), ...Object.keys(page.table)];
  const nearest = nearestName(wanted, topics);
  const slip = nearest === null ? '' : ` Did you mean --help=${nearest}?`;
  throw new UsageError(
    `--help=${topic}: neither a group nor a flag.${slip}\nGroups: all, ${[...groups.keys()].join(', ')}`,
  );
}
