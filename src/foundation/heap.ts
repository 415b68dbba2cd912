import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Threads that start after this begin with a young generation of 16 MiB instead of growing to it: while it grows, the
 * collector stops the thread for milliseconds every few hundred kilobytes, just as the first requests of a run are
 * answered. The flag is V8's, in MiB.
 */
export function growHeapsAtOnce(): void {
  setFlagsFromString('--min-semi-space-size=4');
}

/**
 * Moves what this thread has made so far out of its young generation, so that it is not copied again and again while
 * the first events of a run arrive. The second pass is what promotes it. A whole collection would be no help: it throws
 * away compiled code that was specialised for objects which live no longer.
 */
export function settleYoungHeap(): void {
  setFlagsFromString('--expose-gc');
  const gc: unknown = runInNewContext('typeof gc === "function" ? gc : null');
  if (typeof gc !== 'function') return;
  gc({ type: 'minor' });
  gc({ type: 'minor' });
}
