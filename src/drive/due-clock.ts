import { nowMs } from '../foundation/clock.ts';
import type { SharedControl } from './shared-control.ts';

/** How long before a due time the sleep ends and spinning begins, ms; a sleep alone fires ~0.1 ms late. */
const spinMs = 0.15;
/** `setImmediate` spinning begins this long before a due time, ms: timers fire up to a millisecond late. */
const immediateMs = 2;

/** First index from `from` on that is not yet due at `elapsedMs`. */
export function dueCountAt(dueMs: Float64Array, elapsedMs: number, from: number): number {
  let count = from;
  while (count < dueMs.length && (dueMs[count] as number) <= elapsedMs) count += 1;
  return count;
}

/**
 * Raises the due count at each due time by sleeping and spinning; blocks its thread until the last one or the stop.
 * @param onDue called after each rise with the number of new arrivals
 */
export function runBlockingClock(
  control: SharedControl,
  dueMs: Float64Array,
  startMs: number,
  onDue: (count: number) => void,
): void {
  let due = 0;
  while (due < dueMs.length && !control.stopped) {
    const waitMs = startMs + (dueMs[due] as number) - nowMs();
    if (waitMs > spinMs) {
      control.sleep(waitMs - spinMs);
      continue;
    }
    if (waitMs > 0) continue;
    const next = dueCountAt(dueMs, nowMs() - startMs, due);
    control.raiseDue(next);
    onDue(next - due);
    due = next;
  }
}

/** The same on the calling thread's own event loop, by timers alone or with spinning through `setImmediate`. */
export function startLoopClock(
  control: SharedControl,
  plan: { readonly dueMs: Float64Array; readonly startMs: number; readonly spin: boolean },
  onDue: () => void,
): void {
  const { dueMs, startMs, spin } = plan;
  const step = (): void => {
    const due = dueCountAt(dueMs, nowMs() - startMs, control.due);
    if (due > control.due) {
      control.raiseDue(due);
      onDue();
    }
    if (due >= dueMs.length || control.stopped) return;
    const waitMs = startMs + (dueMs[due] as number) - nowMs();
    if (!spin) setTimeout(step, Math.max(0, waitMs));
    else if (waitMs > immediateMs) setTimeout(step, waitMs - immediateMs);
    else setImmediate(step);
  };
  step();
}
