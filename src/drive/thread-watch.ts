import {
  type IntervalHistogram,
  monitorEventLoopDelay,
  PerformanceObserver,
  performance,
} from 'node:perf_hooks';
import type { ThreadHealth } from './messages.ts';

/** Sampling step of the loop-delay histogram, ms. It is contained in every sample and subtracted from the report. */
const resolutionMs = 10;

/** Watches the event loop of the thread it is made in; cheap enough to run during a measurement. */
export class ThreadWatch {
  readonly #histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: resolutionMs });
  #utilization = performance.eventLoopUtilization();
  #gcPauseMs = 0;
  readonly #gc = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) this.#gcPauseMs += entry.duration;
  });

  start(): void {
    this.#histogram.reset();
    this.#histogram.enable();
    this.#utilization = performance.eventLoopUtilization();
    this.#gcPauseMs = 0;
    this.#gc.observe({ entryTypes: ['gc'] });
  }

  finish(): Omit<ThreadHealth, 'connectionsOpened' | 'connectionsReused'> {
    this.#histogram.disable();
    this.#gc.disconnect();
    const beyond = (ns: number): number => (Number.isFinite(ns) ? Math.max(0, ns / 1e6 - resolutionMs) : 0);
    return {
      loopDelayP99Ms: beyond(this.#histogram.percentile(99)),
      loopDelayMaxMs: beyond(this.#histogram.max),
      loopUtilizationRatio: performance.eventLoopUtilization(this.#utilization).utilization,
      gcPauseMs: this.#gcPauseMs,
    };
  }
}
