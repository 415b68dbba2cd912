import { randomStream } from '../../foundation/random.ts';
import type { ScriptedFault } from './fault-script.ts';
import type { RequestFault } from './request-fault.ts';

/** Says what goes wrong with each request. */
export type FaultPlan = {
  /**
   * The fault of the next request, the first in the script that befalls it; `null` = none.
   * @param model as the request names it
   */
  next(model: string | null): RequestFault | null;
  /** The model's name without a suffix that calls for a fault. */
  bareModel(model: string): string;
};

/** Nothing goes wrong on purpose. */
export const noFaults: FaultPlan = { next: () => null, bareModel: (model) => model };

/** @param seed of the requests that a rate picks */
export function faultPlan(script: readonly ScriptedFault[], seed: number): FaultPlan {
  if (script.length === 0) return noFaults;
  let arrivals = 0;
  const draws = script.map((_, index) => randomStream(seed, `fault ${index}`));
  const suffixes = script.flatMap(({ selector }) => selector.modelSuffix ?? []);
  return {
    next(model) {
      const arrival = arrivals;
      arrivals += 1;
      // Every rate draws for every request, so that one fault's share does not shift another's.
      const drawn = draws.map((draw) => draw.uniform());
      const found = script.find(({ selector: { rate, requests, modelSuffix } }, index) => {
        if (rate !== null && (drawn[index] ?? 1) >= rate) return false;
        if (requests !== null && (arrival < requests[0] || arrival > requests[1])) return false;
        return modelSuffix === null || (model?.endsWith(modelSuffix) ?? false);
      });
      return found?.fault ?? null;
    },
    bareModel(model) {
      const suffix = suffixes.find((candidate) => model.endsWith(candidate));
      return suffix === undefined ? model : model.slice(0, -suffix.length);
    },
  };
}
