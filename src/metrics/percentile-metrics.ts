import { requestMetrics, samplesMetrics, stageMetrics } from './catalogue.ts';
import type { RequestMetric, SamplesMetric, StageMetric } from './metric.ts';

/** A name that `--percentile-metrics` takes, and the blocks it selects. */
export type PercentileMetric = { readonly name: string; readonly doc: string };

const blocks: readonly (RequestMetric | SamplesMetric | StageMetric)[] = [
  requestMetrics.ttft,
  requestMetrics.tpot,
  samplesMetrics.itl,
  ...Object.values(requestMetrics),
  ...Object.values(stageMetrics),
];

/** Everything that `--percentile-metrics` takes, in the order of the report. */
export const percentileMetrics: readonly PercentileMetric[] = [
  ...new Set(blocks.flatMap((metric) => metric.selectedBy)),
].map((name) => ({ name, doc: docOf(name) }));

/** The allowed names of `--percentile-metrics`. */
export const percentileMetricNames: readonly string[] = percentileMetrics.map(({ name }) => name);

function docOf(name: string): string {
  const selected = [...new Set(blocks)].filter((metric) => metric.selectedBy.includes(name));
  const ofReplies = selected
    .filter(({ kind }) => kind !== 'stage')
    .map(({ label, title }) => (label === title ? title : `${label}, ${title}`));
  const ofStages = selected.filter(({ kind }) => kind === 'stage').map(({ label }) => label);
  const stagePart = ofStages.length > 0 ? [`with --print-stage ${ofStages.join(', ')}`] : [];
  return [...ofReplies, ...stagePart].join('; ');
}

/**
 * Whether the run's `--percentile-metrics` asks for a metric's block.
 * @param names as given, in any order
 */
export function isSelected(
  metric: { readonly selectedBy: readonly string[] },
  names: readonly string[],
): boolean {
  return metric.selectedBy.some((name) => names.includes(name));
}
