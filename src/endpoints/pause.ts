import type { StopSignal } from './endpoint.ts';

/** What a timer can wait for at most, ms; beyond it Node would not wait at all. */
const longestMs = 2 ** 31 - 1;

/** Waits, unless the run stops first. */
export function pause(ms: number, stop: StopSignal): Promise<void> {
  return new Promise((resolve) => {
    if (stop.stopped) {
      resolve();
      return;
    }
    const timer = setTimeout(end, Math.min(ms, longestMs));
    const forget = stop.onStop(end);
    function end(): void {
      clearTimeout(timer);
      forget();
      resolve();
    }
  });
}
