import { parseTolerantJson } from './tolerant-json.ts';

const mask = '***';

/** Names of flags, variables, headers and JSON members that hold a secret; `eos_token` and its like hold none. */
const secretName =
  /^token$|(^|[-_])((api|access|secret|private|subscription)[-_]?key|(hf|hub|access|auth|api|bearer|refresh|session|secret)[-_]?token|secret|password|passwd|authorization|cookie|credentials?)$/i;

/** Members whose texts are all secrets: the name of a header need not tell. */
const headersName = /(^|[-_])headers?$/i;

function isSecret(name: string): boolean {
  // `apiKey` as `api-Key`.
  return secretName.test(name.replace(/([a-z])([A-Z])/g, '$1-$2'));
}

/**
 * Words of a command line as they may be stored and shown: `***` in place of the values of headers, of flags,
 * variables and JSON members whose names say that they are secret, and of passwords within URLs. Doing it again
 * changes nothing.
 */
export function withoutSecrets(words: readonly string[]): string[] {
  /** What the words after a flag are. */
  let values: 'headers' | 'secret' | 'plain' = 'plain';
  return words.map((word) => {
    const flag = /^--?[A-Za-z][^=\s]*/.exec(word)?.[0];
    if (flag === undefined) {
      if (values === 'secret') return mask;
      return values === 'headers' ? hideValue(word) : hidden(word);
    }
    values = kindOf(flag);
    if (word === flag) return word;
    const value = word.slice(flag.length + 1);
    if (values === 'secret') return `${flag}=${mask}`;
    return `${flag}${word.slice(flag.length, flag.length + 1)}${values === 'headers' ? hideValue(value) : hidden(value)}`;
  });
}

function kindOf(flag: string): 'headers' | 'secret' | 'plain' {
  const members = flag.replace(/^--?|\+$/g, '').split('.');
  if (members.length === 1 && members[0] === 'header') return 'headers';
  const isOfHeaders = members.slice(1, -1).some((member) => headersName.test(member));
  return isOfHeaders || isSecret(members.at(-1) ?? '') ? 'secret' : 'plain';
}

/** A header as `NAME=VALUE`. */
function hideValue(word: string): string {
  const at = word.indexOf('=');
  return at < 0 ? hidden(word) : `${word.slice(0, at)}=${mask}`;
}

/** A value that may hold a secret: JSON, `NAME=VALUE` of an environment, `Name: value` of a header, a URL. */
function hidden(word: string): string {
  if (/^\s*[[{]/.test(word)) return hiddenJson(word);
  const named = /^([\w-]+)(\s*[=:]\s*)(?=.)/s.exec(word);
  if (named !== null && isSecret(named[1] ?? '')) return `${named[0]}${mask}`;
  return hiddenText(word);
}

function hiddenText(text: string): string {
  return text
    .replace(/(:\/\/[^/\s:@]*):[^/\s@]*@/g, `$1:${mask}@`)
    .replace(/\b(Bearer|Basic)\s+[^\s"']+/gi, `$1 ${mask}`);
}

/** JSON without its secrets; as it was written where it holds none. */
function hiddenJson(text: string): string {
  let value: unknown;
  try {
    value = parseTolerantJson(text);
  } catch {
    return hiddenText(text);
  }
  const masked = JSON.stringify(hiddenMembers(value, false));
  return masked === JSON.stringify(value) ? text : masked;
}

/** @param all every text within is a secret */
function hiddenMembers(value: unknown, all: boolean): unknown {
  if (typeof value === 'string') return all ? mask : hiddenText(value);
  if (Array.isArray(value)) return value.map((item) => hiddenMembers(item, all));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      hiddenMembers(member, all || isSecret(name) || headersName.test(name)),
    ]),
  );
}
