import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { messageOf, OutputFileError, UsageError } from '../foundation/errors.ts';
import { makeFolder } from '../foundation/make-folder.ts';

/**
 * Writes JSON (indent 2, as it stands in UTF-8) that is there whole or not at all, however the process ends.
 * @throws OutputFileError
 */
export function writeJsonFile(path: string, value: unknown): void {
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.tmp`);
  try {
    makeFolder(dirname(path));
    try {
      writeFileSync(temporary, `${JSON.stringify(value, null, 2)}\n`);
      renameSync(temporary, path);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  } catch (cause) {
    throw new OutputFileError(`cannot write ${path}: ${messageOf(cause)}.`, { cause });
  }
}

/**
 * Makes the folder that results are to be written to, before they are worked for.
 * @param flag that named it, for the message
 * @throws UsageError where there can be no such folder, or nothing can be written to it
 */
export function prepareOutputFolder(dir: string, flag: string): void {
  const probe = join(dir, `.omnimeter.${process.pid}.tmp`);
  try {
    makeFolder(dir);
    writeFileSync(probe, '');
    rmSync(probe);
  } catch (cause) {
    throw new UsageError(
      `${flag}: nothing can be written to ${dir}: ${messageOf(cause)}. Name a folder that can be made, or written to.`,
      { cause },
    );
  }
}
