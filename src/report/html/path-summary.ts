import { percentileOfSorted } from '../../foundation/statistics.ts';
import { type CriticalPath, criticalPathOf } from '../../metrics/critical-path.ts';
import type { RequestRecord } from '../../records/request-record.ts';
import type { RunFacts } from '../../records/run-facts.ts';
import { compact } from './compact.ts';
import type { PathSummary } from './report-model.ts';

/** More names than any pipeline has stages; what a broken server invents beyond them is one step. */
const mostSteps = 24;
const goals = ['audio', 'text', 'reply'] as const;

/** Where time went over all successful requests, per goal. */
export function pathSummariesOf(measured: readonly RequestRecord[], run: RunFacts): PathSummary[] {
  const byGoal = new Map<CriticalPath['goal'], GoalSteps>();
  for (const record of measured) {
    const path = criticalPathOf(record, run);
    if (!path || path.steps.length === 0) continue;
    const steps = byGoal.get(path.goal) ?? new GoalSteps();
    byGoal.set(path.goal, steps);
    steps.add(path);
  }
  return goals.flatMap((goal) => byGoal.get(goal)?.summary(goal) ?? []);
}

type Step = {
  readonly kind: CriticalPath['steps'][number]['kind'];
  readonly values: number[];
  place: number;
};

/** The steps of one goal; in the order of the places that they usually have. */
class GoalSteps {
  #requests = 0;
  readonly #steps = new Map<string, Step>();

  add(path: CriticalPath): void {
    this.#requests += 1;
    for (const [place, { kind, name, ms }] of path.steps.entries()) {
      const key = this.#steps.has(name) || this.#steps.size < mostSteps ? name.slice(0, 80) : 'other';
      const step = this.#steps.get(key);
      if (step) {
        step.values.push(ms);
        // A step that some requests lack stands where it stands in the longest path.
        step.place = Math.max(step.place, place);
      } else this.#steps.set(key, { kind, values: [ms], place });
    }
  }

  summary(goal: CriticalPath['goal']): PathSummary {
    const inOrder = [...this.#steps].sort(([, a], [, b]) => a.place - b.place);
    return {
      goal,
      requests: this.#requests,
      steps: inOrder.map(([name, { kind, values }]) => {
        const all = new Float64Array(this.#requests);
        all.set(values.slice(0, this.#requests));
        const sorted = all.sort();
        return {
          kind,
          name,
          meanMs: compact(values.reduce((sum, ms) => sum + ms, 0) / this.#requests),
          medianMs: compact(percentileOfSorted(sorted, 50) ?? 0),
          p99Ms: compact(percentileOfSorted(sorted, 99) ?? 0),
        };
      }),
    };
  }
}
