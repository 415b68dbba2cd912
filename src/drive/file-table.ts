import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

/** Files that the process has open beside its connections. */
const otherFiles = 64;
/** More are not made room for: each costs a microsecond. */
const mostConnections = 1 << 16;

let grownTo = 0;

/**
 * Makes room for so many connections in the process's table of open files. Linux grows that table by powers of two, and
 * while it does so in a process with threads, the thread that opens a file sleeps for up to ten milliseconds: in the
 * middle of a run every event of that time would be stamped late. The table never shrinks again.
 *
 * It makes no room beyond the limit of open files; that a connection can't be opened is told where it happens.
 */
export function growFileTable(connections: number): void {
  const files: number[] = [];
  const wanted = Math.min(connections, mostConnections) + otherFiles;
  if (wanted <= grownTo) return;
  grownTo = wanted;
  try {
    while (files.length < wanted) files.push(openSync(devNull, 'r'));
  } catch {
    // The limit is reached, or there is no such device: what was opened so far has made its room.
  }
  for (const file of files) closeSync(file);
}
