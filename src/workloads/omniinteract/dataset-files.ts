import { readdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { InputFileError, messageOf } from '../../foundation/errors.ts';

/** @throws InputFileError where it can't be told, such as behind a loop of links */
export function isFile(path: string): boolean {
  return statsOf(path)?.isFile() === true;
}

/** @throws InputFileError where it can't be told, such as behind a loop of links */
export function isFolder(path: string): boolean {
  return statsOf(path)?.isDirectory() === true;
}

/** @throws InputFileError where it can't be told, such as behind a loop of links */
export function isThere(path: string): boolean {
  return statsOf(path) !== null;
}

/** A file's text, without the byte order mark that some editors put first. */
export function textIn(path: string): string {
  return readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
}

/** What is at a path; `null` where nothing is, or nothing can be, such as below a file. */
function statsOf(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    if (codeOf(error) === 'ENOTDIR') return null;
    throw unreadable(path, error);
  }
}

/**
 * Paths of all files below a folder, from it and with `/`, in no order. Links are followed.
 * @throws InputFileError where a folder can't be read, or is a link to one above it
 */
export function filesBelow(folder: string): string[] {
  return walk(folder, '', []);
}

/** @param above real paths of the folders on the way */
function walk(folder: string, rel: string, above: readonly string[]): string[] {
  const { names, real } = contentOf(folder);
  if (above.includes(real))
    throw new InputFileError(
      `${folder} is a link to a folder that it is in, so that there is no end to it. Remove the link.`,
    );
  return names.flatMap((name) => {
    const path = join(folder, name);
    const stats = statsOf(path);
    const relPath = rel === '' ? name : `${rel}/${name}`;
    if (stats?.isDirectory()) return walk(path, relPath, [...above, real]);
    return stats?.isFile() ? [relPath] : [];
  });
}

function contentOf(folder: string): { readonly names: readonly string[]; readonly real: string } {
  try {
    return { names: readdirSync(folder), real: realpathSync(folder) };
  } catch (error) {
    throw unreadable(folder, error);
  }
}

const reasons: Readonly<Record<string, string>> = {
  ELOOP: 'its links lead to each other in a loop. Remove or mend them',
  ENAMETOOLONG: 'its name is longer than the file system allows. Give it a shorter one',
  EACCES: 'it may not be read. Change its permissions',
  ERR_INVALID_ARG_VALUE: 'a name of a file holds no NUL. Correct it',
};

function unreadable(path: string, cause: unknown): InputFileError {
  const reason = reasons[codeOf(cause)] ?? messageOf(cause);
  // A NUL would end the line on some terminals.
  return new InputFileError(`cannot read ${path.replaceAll('\0', '\\0')}: ${reason}.`, { cause });
}

/**
 * Whatever the system refuses while a dataset is looked through is wrong with what the run was given.
 * @throws InputFileError in place of the system's own error
 */
export function refusedAsInput(error: unknown): unknown {
  const isSystems =
    error instanceof Error && ('syscall' in error || codeOf(error) === 'ERR_INVALID_ARG_VALUE');
  return isSystems
    ? new InputFileError(`cannot read the OmniInteract dataset: ${error.message}`, { cause: error })
    : error;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
