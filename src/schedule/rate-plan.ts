/** How the offered rate depends on a request's position in the run. */
export type RatePlan =
  | { readonly kind: 'steady' /** Requests per second; Infinity = all at once. */; readonly rps: number }
  | { readonly kind: 'linear' | 'exponential'; readonly startRps: number; readonly endRps: number };

/**
 * Offered rate at request `index` of `count`, requests per second. It depends on the index, not on time.
 * Linear: s + (e − s)·i/(n−1); exponential: s·(e/s)^(i/(n−1)).
 */
export function rateAt(plan: RatePlan, index: number, count: number): number {
  if (plan.kind === 'steady') return plan.rps;
  const progress = index / Math.max(count - 1, 1);
  return plan.kind === 'linear'
    ? plan.startRps + (plan.endRps - plan.startRps) * progress
    : plan.startRps * (plan.endRps / plan.startRps) ** progress;
}

/** A whole number of requests per second that a ramp reached, and the request at which it did. */
export type RateStep = { readonly rps: number; readonly index: number };

/** The start rate, then every whole rate that the ramp crosses upwards; empty for a steady rate. */
export function rateSteps(plan: RatePlan, count: number): RateStep[] {
  if (plan.kind === 'steady' || count === 0) return [];
  const steps: RateStep[] = [{ rps: plan.startRps, index: 0 }];
  let reached = Math.trunc(plan.startRps);
  for (let index = 0; index < count; index += 1) {
    // Rounded first: 2·16^(3/4) computes to 15.999999999999998.
    const whole = Math.trunc(Number(rateAt(plan, index, count).toPrecision(12)));
    while (reached < whole) {
      reached += 1;
      steps.push({ rps: reached, index });
    }
  }
  return steps;
}
