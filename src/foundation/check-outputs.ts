import { type BigIntStats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { UsageError } from './errors.ts';

/** A file that a command is about to write, and the flag that named it. */
export type OutputPath = { readonly flag: string; readonly path: string };

/** What is at a path; `null` where nothing is, or nothing can be, such as below a file. Writing will say why. */
export function fileAt(path: string): BigIntStats | null {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return null;
  }
}

/**
 * What tells files apart: links of both kinds lead to the same one, and one that is not there has only its name.
 * @returns `null` for what cannot be overwritten, such as `/dev/null`
 */
function identity(path: string): string | null {
  const file = fileAt(path);
  if (file === null) return resolve(path);
  return file.isFile() ? `${file.dev}:${file.ino}` : null;
}

/**
 * Finds out before anything is written whether an output would destroy what the command reads, or another output.
 * @param inputs files that the command reads
 * @throws UsageError naming the flag and the file
 */
export function checkOutputs(outputs: readonly OutputPath[], inputs: readonly string[]): void {
  const read = new Set(inputs.map(identity));
  const written = new Map<string, string>();
  for (const { flag, path } of outputs) {
    const id = identity(path);
    if (id === null) continue;
    if (read.has(id))
      throw new UsageError(
        `${flag}: ${path} is read by this command and would be overwritten. Name another file.`,
      );
    const other = written.get(id);
    if (other !== undefined)
      throw new UsageError(`${flag}: ${path} is written by ${other} too. Name another file.`);
    written.set(id, flag);
  }
}
