import { UsageError } from '../../foundation/errors.ts';
import { nearestName } from '../../foundation/nearest-name.ts';
import {
  canonicalName,
  type Flag,
  type FlagTable,
  knownSpellings,
  takesMany,
  takesMembers,
  takesValue,
} from './flag.ts';

/** One use of a flag on the command line, not yet interpreted. */
export type Assignment = {
  /** Long name without dashes. */
  readonly name: string;
  /** Members of a JSON flag, outermost first: `--extra-body.audio.voice x` has two. */
  readonly members: readonly string[];
  /** Written with `+`: adds to what is there. */
  readonly append: boolean;
  /** Written as `--no-…`. */
  readonly negated: boolean;
  readonly texts: readonly string[];
  /** As the user wrote it, for messages. */
  readonly spelled: string;
};

export type ReadArguments = {
  readonly assignments: readonly Assignment[];
  readonly positionals: readonly string[];
  /** `--help` was given: the topic after `=`, or an empty string. `null` = not given. */
  readonly helpTopic: string | null;
};

/** `-1`, `-.5`, `-1e-3` and `-inf` are values, not flags. */
const negativeNumber = /^-(\d|\.\d|inf(inity)?$)/i;

function looksLikeFlag(token: string): boolean {
  return token.length > 1 && token.startsWith('-') && !negativeNumber.test(token);
}

type SplitFlag = { dashed: string; members: string[]; append: boolean; inline: string | null };

/** Takes `--name.member+=value` apart. */
function splitFlag(token: string): SplitFlag {
  const equals = token.indexOf('=');
  let spelled = equals < 0 ? token : token.slice(0, equals);
  const inline = equals < 0 ? null : token.slice(equals + 1);
  const append = spelled.endsWith('+');
  if (append) spelled = spelled.slice(0, -1);
  const dashes = spelled.startsWith('--') ? '--' : '-';
  const [head = '', ...members] = spelled.slice(dashes.length).split('.');
  return { dashed: dashes + canonicalName(head), members, append, inline };
}

type Found = { name: string; flag: Flag; negated: boolean };

function findFlag(table: FlagTable, spellings: ReadonlyMap<string, string>, dashed: string): Found | null {
  const name = spellings.get(dashed);
  if (name !== undefined) {
    const flag = table[name];
    return flag === undefined ? null : { name, flag, negated: false };
  }
  if (!dashed.startsWith('--no-')) return null;
  const positive = spellings.get(`--${dashed.slice(5)}`);
  const flag = positive === undefined ? undefined : table[positive];
  if (positive === undefined || flag?.kind !== 'boolean') return null;
  return { name: positive, flag, negated: true };
}

function unknownFlag(table: FlagTable, dashed: string): UsageError {
  const spellings = knownSpellings(table);
  const nearest = nearestName(dashed, [...spellings, '--help']);
  const slip = nearest === null ? '' : ` Did you mean ${nearest}?`;
  const allowed = Object.entries(table)
    .filter(([, flag]) => flag.belongsTo === undefined && !flag.hidden)
    .map(([name]) => `--${name}`);
  return new UsageError(
    `unknown flag ${dashed}.${slip}\nAllowed flags: ${allowed.join(' ')}\nSee --help=all.`,
  );
}

function checkForm(found: Found, split: SplitFlag): void {
  const { flag } = found;
  if (split.members.length > 0 && !takesMembers(flag))
    throw new UsageError(
      `${split.dashed} takes no members, got ${[split.dashed, ...split.members].join('.')}.`,
    );
  if (split.members.some((member) => member === ''))
    throw new UsageError(`${[split.dashed, ...split.members].join('.')}: a member's name is empty.`);
  const listLike = takesMany(flag) || flag.kind === 'comma-list' || split.members.length > 0;
  if (split.append && !listLike)
    throw new UsageError(`${split.dashed}+: only lists and members of JSON flags can be added to.`);
  if (found.negated && split.inline !== null) throw new UsageError(`${split.dashed} takes no value.`);
}

/** Values that follow a flag at `next`, and the position after them. */
function takeTexts(
  argv: readonly string[],
  next: number,
  many: boolean,
  spelled: string,
): [string[], number] {
  const texts: string[] = [];
  let at = next;
  for (;;) {
    const token = argv[at];
    if (token === undefined || looksLikeFlag(token)) break;
    texts.push(token);
    at += 1;
    if (!many) break;
  }
  if (texts.length > 0) return [texts, at];
  const following = argv[at];
  const hint =
    following === undefined ? '' : ` (a value that starts with a dash is written ${spelled}=${following})`;
  throw new UsageError(`${spelled} needs a value${hint}.`);
}

/**
 * Takes a command line apart by a table of flags: `_` like `-`, `--flag=value`, `--flag.member value`,
 * `--flag+ value`, lists up to the next flag, `--no-flag`, negative numbers as values, `--` before positionals.
 * Names are never completed: a prefix that is unique today may not be tomorrow.
 * @throws UsageError for an unknown flag or a missing value
 */
export function readArguments(argv: readonly string[], table: FlagTable): ReadArguments {
  const spellings = new Map<string, string>();
  for (const [name, flag] of Object.entries(table)) {
    for (const spelling of [`--${name}`, ...(flag.aliases ?? [])]) spellings.set(spelling, name);
  }
  const assignments: Assignment[] = [];
  const positionals: string[] = [];
  // Help wins over a mistake elsewhere in the line: it is what one asks for to mend the mistake.
  const helpTopic = findHelp(argv);
  if (helpTopic !== null) return { assignments, positionals, helpTopic };
  for (let at = 0; at < argv.length; ) {
    const token = argv[at] ?? '';
    at += 1;
    if (token === '--') {
      positionals.push(...argv.slice(at));
      break;
    }
    if (!looksLikeFlag(token)) {
      positionals.push(token);
      continue;
    }
    const split = splitFlag(token);
    const found = findFlag(table, spellings, split.dashed);
    if (found === null) throw unknownFlag(table, split.dashed);
    checkForm(found, split);
    const spelled = [split.dashed, ...split.members].join('.') + (split.append ? '+' : '');
    let texts: string[] = [];
    if (split.inline !== null) texts = [split.inline];
    else if (takesValue(found.flag) || split.members.length > 0)
      [texts, at] = takeTexts(argv, at, takesMany(found.flag) && split.members.length === 0, spelled);
    assignments.push({
      name: found.name,
      members: split.members,
      append: split.append,
      negated: found.negated,
      texts,
      spelled,
    });
  }
  return { assignments, positionals, helpTopic: null };
}

function findHelp(argv: readonly string[]): string | null {
  for (const token of argv) {
    if (token === '--') return null;
    if (token === '-h' || token === '--help') return '';
    if (token.startsWith('--help=')) return token.slice('--help='.length);
  }
  return null;
}
