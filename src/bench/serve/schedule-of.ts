import { randomStream } from '../../foundation/random.ts';
import { arrivalPacer, listedPacer } from '../../schedule/arrival-schedule.ts';
import type { Pacer } from '../../schedule/pacer.ts';
import type { RatePlan } from '../../schedule/rate-plan.ts';
import type { Sample } from '../../workloads/sample.ts';
import type { BenchServeOptions } from './options.ts';

export function ratePlan(options: Pick<BenchServeOptions, 'rampUp' | 'requestRate'>): RatePlan {
  const ramp = options.rampUp;
  return ramp
    ? { kind: ramp.strategy, startRps: ramp.startRps, endRps: ramp.endRps }
    : { kind: 'steady', rps: options.requestRate };
}

/** When each request of a recorded workload is due, ms after the first; `null` where a sample has no time. */
export function traceTimesMs(samples: readonly Sample[]): readonly number[] | null {
  const times = samples.flatMap(({ traceTimestampS }) =>
    traceTimestampS === undefined ? [] : [traceTimestampS * 1000],
  );
  return times.length === samples.length && times.length > 0 ? times : null;
}

/**
 * The run's arrivals, from a random stream of their own.
 * @param traceMs times that a recording has for the requests; they take the place of rate and burstiness
 */
export function scheduleOf(
  options: BenchServeOptions,
  count: number,
  traceMs: readonly number[] | null,
): Pacer {
  if (traceMs !== null) return listedPacer(traceMs);
  return arrivalPacer(
    { count, rate: ratePlan(options), burstiness: options.burstiness },
    randomStream(options.seed, 'arrivals'),
  );
}

/** All due times of a pacer, ms. */
export function dueTimes(pacer: Pacer, count: number): Float64Array {
  return Float64Array.from({ length: count }, (_, index) => pacer.dueAtMs(index) ?? 0);
}
