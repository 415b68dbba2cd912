import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeFolder } from '../foundation/make-folder.ts';

/** Writes JSON (indent 2, as it stands in UTF-8) that is there whole or not at all, however the process ends. */
export function writeJsonFile(path: string, value: unknown): void {
  makeFolder(dirname(path));
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.tmp`);
  try {
    writeFileSync(temporary, `${JSON.stringify(value, null, 2)}\n`);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
