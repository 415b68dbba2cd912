import { performance } from 'node:perf_hooks';

/**
 * The one clock of a process: milliseconds, monotonic, the same origin in every thread of the process.
 * Intervals are measured on it; wall-clock time appears once per run, as a label.
 */
export const nowMs: () => number = () => performance.now();

/**
 * Milliseconds to add to a {@link nowMs} reading to get the host's CLOCK_MONOTONIC, which all processes of one
 * host share. Between hosts only durations compare.
 */
export function hostClockOffsetMs(): number {
  let best = Number.POSITIVE_INFINITY;
  let offset = 0;
  for (let i = 0; i < 16; i += 1) {
    const before = performance.now();
    const host = Number(process.hrtime.bigint()) / 1e6;
    const after = performance.now();
    if (after - before < best) {
      best = after - before;
      offset = host - (before + after) / 2;
    }
  }
  return offset;
}
