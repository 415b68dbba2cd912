import { randomStream } from '../../foundation/random.ts';
import { arrivalPacer } from '../../schedule/arrival-schedule.ts';
import type { Pacer } from '../../schedule/pacer.ts';
import type { RatePlan } from '../../schedule/rate-plan.ts';
import type { BenchServeOptions } from './options.ts';

export function ratePlan(options: Pick<BenchServeOptions, 'rampUp' | 'requestRate'>): RatePlan {
  const ramp = options.rampUp;
  return ramp
    ? { kind: ramp.strategy, startRps: ramp.startRps, endRps: ramp.endRps }
    : { kind: 'steady', rps: options.requestRate };
}

/** The run's arrivals, from a random stream of their own. */
export function scheduleOf(options: BenchServeOptions, count: number): Pacer {
  return arrivalPacer(
    { count, rate: ratePlan(options), burstiness: options.burstiness },
    randomStream(options.seed, 'arrivals'),
  );
}

/** All due times of a pacer, ms. */
export function dueTimes(pacer: Pacer, count: number): Float64Array {
  return Float64Array.from({ length: count }, (_, index) => pacer.dueAtMs(index) ?? 0);
}
