import { type ParameterItem, parametersOf, parameterText, spellingsOf } from './parameter-file.ts';

/**
 * A command with a setting's parameters in place of its own: a flag that is there gets the new value, one that is not
 * is added at the end. `true` is `--flag` and `false` is `--no-flag` (`--a.b=true` for members), objects are JSON,
 * lists are several values, `null` leaves the command as it is.
 */
export function applyParameters(command: readonly string[], item: ParameterItem): string[] {
  let words = [...command];
  for (const [key, value] of parametersOf(item)) if (value !== null) words = applied(words, key, value);
  return words;
}

function applied(words: readonly string[], key: string, value: unknown): string[] {
  const flags = spellingsOf(key).map((name) => `--${name}`);
  const given = wordsOf(key, value);
  const at = words.findIndex((word) => flags.some((flag) => word === flag || word.startsWith(`${flag}=`)));
  if (at < 0) return [...words, ...given];
  const inline = words[at]?.includes('=') === true && !flags.includes(words[at] ?? '');
  const old =
    inline || typeof value === 'boolean' ? 1 : Array.isArray(value) ? 1 + valuesAfter(words, at) : 2;
  return [...words.slice(0, at), ...given, ...words.slice(at + old)];
}

/** How many values follow the flag at `at`. */
function valuesAfter(words: readonly string[], at: number): number {
  const next = words.slice(at + 1).findIndex((word) => word.startsWith('--'));
  return next < 0 ? words.length - at - 1 : next;
}

function wordsOf(key: string, value: unknown): string[] {
  const [head = '', ...members] = key.split('.');
  const name = [head.replaceAll('_', '-'), ...members].join('.');
  if (typeof value === 'boolean') {
    if (name.includes('.')) return [`--${name}=${value}`];
    return [value ? `--${name}` : `--no-${name}`];
  }
  if (Array.isArray(value)) return [`--${name}`, ...value.map(parameterText)];
  return [`--${name}`, parameterText(value)];
}
