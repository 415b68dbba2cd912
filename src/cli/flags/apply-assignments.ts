import { UsageError } from '../../foundation/errors.ts';
import type { FlagTable, FlagValue } from './flag.ts';
import { isJsonObject, parseFlagValue, parseJsonOrText, splitCommas } from './flag-value.ts';
import { withMember } from './merge-members.ts';
import type { Assignment } from './read-arguments.ts';

/**
 * Applies the uses of flags on a command line over the values of lower sources. The last use of a flag wins.
 * Members of JSON flags are merged over the last whole object, wherever on the line they stand.
 * @param below values of the defaults, file and environment
 * @returns the flags that the line gives, with their values
 * @throws UsageError for a value that does not parse
 */
export function applyAssignments(
  assignments: readonly Assignment[],
  table: FlagTable,
  below: ReadonlyMap<string, FlagValue>,
): Map<string, FlagValue> {
  const given = new Map<string, FlagValue>();
  const present = (name: string): FlagValue => given.get(name) ?? below.get(name) ?? null;
  for (const assignment of assignments) {
    if (assignment.members.length > 0) continue;
    const value = wholeValue(assignment, table, {
      present: present(assignment.name),
      earlier: given.get(assignment.name),
    });
    given.set(assignment.name, value);
  }
  for (const assignment of assignments) {
    if (assignment.members.length === 0) continue;
    const base = present(assignment.name);
    given.set(assignment.name, memberValue(assignment, isJsonObject(base) ? base : {}));
  }
  return given;
}

function wholeValue(
  assignment: Assignment,
  table: FlagTable,
  of: { readonly present: FlagValue; readonly earlier: FlagValue | undefined },
): FlagValue {
  const flag = table[assignment.name];
  if (flag === undefined) throw new Error(`no flag ${assignment.name}`);
  if (flag.kind === 'boolean' && assignment.texts.length === 0) return !assignment.negated;
  const value = parseFlagValue(flag, assignment.texts, assignment.spelled);
  if (!Array.isArray(value)) return value;
  // A flag that may be repeated gathers its uses on the line; those of lower sources it replaces like any other.
  const before = flag.kind === 'repeated' ? of.earlier : assignment.append ? of.present : null;
  return Array.isArray(before) ? [...before, ...value] : value;
}

function memberValue(assignment: Assignment, base: Readonly<Record<string, unknown>>): FlagValue {
  const text = assignment.texts.at(-1);
  if (text === undefined) throw new UsageError(`${assignment.spelled} needs a value.`);
  const value = assignment.append ? splitCommas(text).map(parseJsonOrText) : parseJsonOrText(text);
  return withMember(base, assignment.members, { value, append: assignment.append });
}
