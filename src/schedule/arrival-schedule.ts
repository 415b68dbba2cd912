import { drawGamma, type Random } from '../foundation/random.ts';
import type { Pacer } from './pacer.ts';
import { type RatePlan, rateAt } from './rate-plan.ts';

export type ArrivalPlan = {
  readonly count: number;
  readonly rate: RatePlan;
  /** Shape of the gamma law of the gaps: 1 = Poisson, < 1 burstier, > 1 more even, Infinity = constant gaps. */
  readonly burstiness: number;
};

/**
 * Gap before each request, s. The first request has one too.
 * Gamma(shape b, scale 1/(r·b)): mean 1/r, coefficient of variation 1/√b.
 */
function drawGapsS(plan: ArrivalPlan, random: Random): Float64Array {
  const gaps = new Float64Array(plan.count);
  for (let index = 0; index < plan.count; index += 1) {
    const rate = rateAt(plan.rate, index, plan.count);
    if (rate === Number.POSITIVE_INFINITY) continue;
    gaps[index] =
      plan.burstiness === Number.POSITIVE_INFINITY
        ? 1 / rate
        : drawGamma(random, plan.burstiness, 1 / (rate * plan.burstiness));
  }
  return gaps;
}

/**
 * Absolute due times in ms from gaps in s. With a steady finite rate all are scaled so that the last request leaves
 * at exactly count/rate seconds; the sum of drawn gaps would otherwise miss the asked rate by chance.
 */
export function dueTimesMs(gapsS: ArrayLike<number>, rate: RatePlan): Float64Array {
  const due = new Float64Array(gapsS.length);
  let sum = 0;
  for (let index = 0; index < due.length; index += 1) {
    sum += gapsS[index] as number;
    due[index] = sum;
  }
  const scale = rate.kind === 'steady' && sum > 0 ? gapsS.length / rate.rps / sum : 1;
  for (let index = 0; index < due.length; index += 1) due[index] = (due[index] as number) * scale * 1000;
  return due;
}

/** A pacer over a fixed list of due times, ms. */
export function listedPacer(due: ArrayLike<number>): Pacer {
  return { dueAtMs: (index) => due[index] ?? null };
}

/** The whole absolute arrival schedule of a run; the same plan and random stream give the same schedule. */
export function arrivalPacer(plan: ArrivalPlan, random: Random): Pacer {
  return listedPacer(dueTimesMs(drawGapsS(plan, random), plan.rate));
}
