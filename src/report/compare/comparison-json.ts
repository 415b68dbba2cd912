import { omnimeterVersion } from '../../foundation/version.ts';
import { finiteOrNull } from '../result-entries.ts';
import type { MetricComparison } from './compare-sides.ts';
import { requestCount, type Side } from './compared-run.ts';
import type { JudgedComparison } from './comparison-report.ts';
import type { GateResult } from './gate.ts';

/** The comparison for programs. `metrics` at the top is that of the first candidate. `null` = not observed or tested. */
export function comparisonJson(
  judged: readonly JudgedComparison[],
  familyError: number,
): Readonly<Record<string, unknown>> {
  const comparisons = judged.map(({ comparison, gates }) => ({
    candidate: sideJson(comparison.candidate),
    metrics: Object.fromEntries(comparison.metrics.map((metric) => [metric.key, metricJson(metric)])),
    gates: gates.map(gateJson),
    passed: gates.every(({ passed }) => passed),
    notes: comparison.notes,
  }));
  const [first] = judged;
  return {
    format: 'omnimeter-comparison',
    version: 1,
    omnimeter_version: omnimeterVersion,
    family_error: familyError,
    baseline: first ? sideJson(first.comparison.baseline) : null,
    passed: comparisons.every(({ passed }) => passed),
    metrics: comparisons[0]?.metrics ?? {},
    comparisons,
  };
}

function sideJson(side: Side): Readonly<Record<string, unknown>> {
  return {
    label: side.label,
    runs: side.runs.length,
    requests: requestCount(side),
    sources: side.runs.map(({ source }) => source),
  };
}

function metricJson(metric: MetricComparison): Readonly<Record<string, unknown>> {
  const { interval } = metric;
  return {
    unit: metric.unit,
    better: metric.better,
    baseline: finiteOrNull(metric.baseline),
    candidate: finiteOrNull(metric.candidate),
    change: finiteOrNull(metric.change),
    change_ratio: finiteOrNull(metric.changeRatio),
    interval: interval && {
      kind: interval.kind,
      low: finiteOrNull(interval.low),
      high: finiteOrNull(interval.high),
    },
    tested_by: metric.test,
    flagged: metric.flagged,
    verdict: metric.verdict,
  };
}

function gateJson({ gate, passed, observed, detail }: GateResult): Readonly<Record<string, unknown>> {
  return {
    kind: gate.kind,
    condition: gate.text,
    key: gate.key,
    passed,
    observed: finiteOrNull(observed),
    detail,
  };
}
