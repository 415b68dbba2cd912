import { closeSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../../foundation/make-folder.ts';

/** A file that keeps what a process prints. */
export type LogFile = { readonly path: string; write(text: string): void; close(): void };

/** Opens a log, anew or to go on with. */
export function openLog(path: string, flags: 'w' | 'a'): LogFile {
  makeFolder(dirname(path));
  let fd: number | null = openSync(path, flags);
  return {
    path,
    write: (text) => {
      // A process may still print while it is being ended.
      if (fd !== null) writeSync(fd, text);
    },
    close: () => {
      if (fd !== null) closeSync(fd);
      fd = null;
    },
  };
}
