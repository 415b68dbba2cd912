import { requestMetrics } from './catalogue.ts';
import type { RequestMetric } from './metric.ts';
import type { RequestFigures } from './request-figures.ts';

const metrics: readonly RequestMetric[] = Object.values(requestMetrics);

/** A name that `--goodput` takes, and what it means. */
export type GoodputKey = { readonly name: string; readonly doc: string };

/** Everything that `--goodput` takes, aliases too. */
export const goodputKeys: readonly GoodputKey[] = metrics.flatMap((metric) => {
  if (!metric.objective) return [];
  const unit = metric.objective.unit === 'ratio' ? 'a ratio' : `in ${metric.objective.unit}`;
  const { label, title } = metric;
  const named = label.toLowerCase() === title.toLowerCase() ? title : `${label}: ${title}`;
  const own = { name: metric.key, doc: `${named}, ${unit}` };
  const aliases = metric.objective.aliases.map((name) => ({ name, doc: `old name of ${metric.key}` }));
  return [own, ...aliases];
});

/**
 * A test for requests that meet every objective; limits are inclusive.
 * @param limits by name of `--goodput`, in the unit of the command line
 * @returns `null` where no objective is set
 */
export function goodputTest(
  limits: Readonly<Record<string, number>>,
): ((request: RequestFigures) => boolean) | null {
  const tests = Object.entries(limits).map(([name, limit]) => objectiveTest(name, limit));
  return tests.length === 0 ? null : (request) => tests.every((meets) => meets(request));
}

function objectiveTest(name: string, limit: number): (request: RequestFigures) => boolean {
  const metric = metrics.find(
    ({ key, objective }) => objective && (key === name || objective.aliases.includes(name)),
  );
  // The command line has checked the names.
  if (!metric?.objective) throw new Error(`${name} is not an objective of --goodput`);
  const { objective } = metric;
  const scale = metric.unit === 's' && objective.unit === 'ms' ? 1000 : 1;
  return (request) => {
    if (objective.vacuous?.(request)) return true;
    const value = metric.of(request);
    return value !== null && value * scale <= limit;
  };
}
