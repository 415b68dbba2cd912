import { mean } from '../../foundation/statistics.ts';
import { studentUpperQuantile } from '../../foundation/student-t.ts';
import { contrastOf, type Scale } from '../../foundation/two-sample-resampling.ts';
import type { CompareKey } from './compare-key.ts';
import type { Side } from './compared-run.ts';
import type { TestedChange } from './record-tests.ts';
import { betweenRuns } from './run-variance.ts';

type RunSample = { readonly key: CompareKey; readonly a: readonly number[]; readonly b: readonly number[] };

/**
 * Tests numbers that a run has one of, such as throughput, by their scatter between runs: Student's t with a common
 * variance, the error shared equally between the keys (Bonferroni). Says nothing where each side has one run.
 */
export function runTests(
  baseline: Side,
  candidate: Side,
  keys: readonly CompareKey[],
  error: number,
): Map<string, TestedChange> {
  const samples = keys
    .filter(({ better }) => better !== 'neither')
    .map((key): RunSample => ({ key, a: valuesOf(baseline, key), b: valuesOf(candidate, key) }))
    .filter(({ a, b }) => a.length > 0 && b.length > 0 && a.length + b.length > 2)
    // Runs that agree to the last digit leave no scatter to hold a change against.
    .filter(({ a, b }) => new Set(a).size > 1 || new Set(b).size > 1);
  const results = new Map<string, TestedChange>();
  for (const sample of samples) {
    const tested = tTest(sample, error / (2 * samples.length));
    if (tested) results.set(sample.key.key, tested);
  }
  return results;
}

function valuesOf(side: Side, { key }: CompareKey): number[] {
  return side.runs.flatMap(({ values }) => values.get(key) ?? []);
}

function tTest({ a, b }: RunSample, upper: number): TestedChange | null {
  const scale: Scale = [...a, ...b].every((value) => value > 0) ? 'ratio' : 'difference';
  const scaled = (values: readonly number[]): number[] =>
    scale === 'ratio' ? values.map((value) => Math.log(value)) : [...values];
  const between = betweenRuns({ values: scaled(a), variance: 0 }, { values: scaled(b), variance: 0 });
  if (between === null || between.variance === 0) return null;
  const change = contrastOf(mean(a) ?? Number.NaN, mean(b) ?? Number.NaN, scale);
  return {
    scale,
    change,
    halfWidth: studentUpperQuantile(upper, between.freedom) * Math.sqrt(between.variance),
  };
}
