import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withoutSecrets } from '../../foundation/command-secrets.ts';
import { InputFileError, messageOf, UsageError } from '../../foundation/errors.ts';
import { joinShellWords, splitShellWords } from '../../foundation/shell-words.ts';
import { parseTolerantJson } from '../../foundation/tolerant-json.ts';
import { readFinishedRun, writeJsonFile } from './run-files.ts';
import type { SweepOptions } from './sweep-options.ts';

const commandsFile = 'commands.json';

/** The commands of an experiment by the flag that gives them; `null` = not given. */
type Commands = ReadonlyMap<string, string | null>;

/**
 * Keeps the commands of an experiment beside its results, so that all of them were measured alike. Where nothing has
 * been measured yet, commands may change, and so may secrets, which are not kept.
 * @param note hears that results are there whose commands nobody kept
 * @throws UsageError where results are there that were measured with other commands
 */
export function keepCommands(options: SweepOptions, note: (line: string) => void): void {
  const path = join(options.experimentDir, commandsFile);
  const now = commandsOf(options);
  const stored = readCommands(path);
  // Of an earlier version, which kept more of a command.
  const before = stored && new Map([...stored].map(([flag, text]) => [flag, withoutStoredSecrets(text)]));
  const changed = [...now].filter(([flag, text]) => before?.get(flag) !== text);
  if (changed.length > 0 && options.resume) {
    const finished = countFinished(options.experimentDir);
    if (finished > 0 && before !== null)
      throw new UsageError(
        [
          `--resume: ${options.experimentDir} holds ${finished} finished runs that were measured with other commands.`,
          ...changed.map(([flag, text]) => `${flag}: ${difference(before.get(flag) ?? null, text)}`),
          'Resume with the commands of then, or give --experiment-name another name to measure anew.',
        ].join('\n'),
      );
    if (finished > 0)
      note(
        `${options.experimentDir} does not say with which commands its ${finished} finished runs were measured, or whether they broke a threshold; they are taken as they are.`,
      );
  }
  const isStale = [...now].some(([flag, text]) => stored?.get(flag) !== text);
  if (!options.dryRun && isStale) writeJsonFile(path, Object.fromEntries(now), 2);
}

function commandsOf({ serve, bench, afterBench }: SweepOptions): Commands {
  const text = (words: readonly string[] | undefined | null): string | null =>
    words ? joinShellWords(withoutSecrets(words)) : null;
  return new Map([
    ['--serve-cmd', text(serve?.words)],
    ['--bench-cmd', text(bench.words)],
    ['--after-bench-cmd', text(afterBench)],
  ]);
}

/** A stored command without what may have been stored before it was known to be secret. */
function withoutStoredSecrets(command: string | null): string | null {
  if (command === null) return null;
  try {
    return joinShellWords(withoutSecrets(splitShellWords(command)));
  } catch {
    return command;
  }
}

function readCommands(path: string): Commands | null {
  if (!existsSync(path)) return null;
  try {
    const data = parseTolerantJson(readFileSync(path, 'utf8'));
    if (typeof data !== 'object' || data === null) throw new TypeError('expected an object');
    return new Map(
      Object.entries(data).map(([flag, text]) => [flag, typeof text === 'string' ? text : null]),
    );
  } catch (cause) {
    throw new InputFileError(
      `${path}: cannot be read (${messageOf(cause)}). It holds the commands that the runs beside it were measured with; delete it to take them as they are.`,
      { cause },
    );
  }
}

function countFinished(dir: string): number {
  if (!existsSync(dir)) return 0;
  return readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /(^|[\\/])run=\d+\.json$/.test(file) && readFinishedRun(join(dir, file)) !== null,
  ).length;
}

/** What stands in one command and not in the other, from the first word that differs to the last. */
function difference(before: string | null, now: string | null): string {
  if (before === null || now === null) return `${before ?? '(not given)'} then, ${now ?? '(not given)'} now`;
  const [a, b] = [before.split(' '), now.split(' ')];
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  // With the flag before a value that changed.
  const from = start > 0 && a[start - 1]?.startsWith('--') ? start - 1 : start;
  const part = (words: readonly string[]): string => {
    const text = words.slice(from, words.length - end).join(' ');
    return text === '' ? '(nothing)' : `'${text}'`;
  };
  return `${part(a)} then, ${part(b)} now`;
}
