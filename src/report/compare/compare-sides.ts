import type { CompareKey } from './compare-key.ts';
import { requestCount, type Side } from './compared-run.ts';
import { failedKey, recordTests, type TestedChange } from './record-tests.ts';
import { runTests } from './run-tests.ts';
import { comparedKeys, SideValues } from './side-values.ts';

/** One key of both sides. `null` = not observed, or not to be computed. */
export type MetricComparison = CompareKey & {
  readonly baseline: number | null;
  readonly candidate: number | null;
  /** Candidate − baseline. */
  readonly change: number | null;
  /** (Candidate − baseline) / baseline; `null` where the baseline is 0. */
  readonly changeRatio: number | null;
  /** Simultaneous interval of the change, relative or in the metric's unit. */
  readonly interval: {
    readonly kind: 'ratio' | 'difference';
    readonly low: number;
    readonly high: number;
  } | null;
  /** What the test resampled; `null` = no test was possible. */
  readonly test: 'requests' | 'runs' | null;
  /** The change is more than scatter. */
  readonly flagged: boolean;
  /** What a flagged change means. */
  readonly verdict: 'better' | 'worse' | 'changed' | null;
};

export type Comparison = {
  readonly baseline: Side;
  readonly candidate: Side;
  readonly metrics: readonly MetricComparison[];
  readonly notes: readonly string[];
};

export type CompareOptions = {
  /** Probability that anything is flagged between two sides that are alike, over all metrics. */
  readonly familyError: number;
  readonly seed: number;
  /** Keys that must appear, observed or not. */
  readonly askedKeys: readonly string[];
};

/** Means get most of the error: they are the sharpest test of a shift, and tails the noisiest. */
function sharesOf(
  familyError: number,
  severalRuns: boolean,
): { means: number; others: number; runs: number } {
  return severalRuns
    ? { means: 0.6 * familyError, others: 0.2 * familyError, runs: 0.2 * familyError }
    : { means: 0.8 * familyError, others: 0.2 * familyError, runs: 0 };
}

/** Compares two sides, metric by metric, with the error controlled over all of them. Pure; one seed, one result. */
export function compareSides(baseline: Side, candidate: Side, options: CompareOptions): Comparison {
  const sides = [new SideValues(baseline), new SideValues(candidate)] as const;
  const keys = comparedKeys(sides, options.askedKeys);
  const severalRuns = baseline.runs.length + candidate.runs.length > 2;
  const shares = sharesOf(options.familyError, severalRuns);
  const ofRequests = recordTests(baseline, candidate, keys, { ...shares, seed: options.seed });
  const untested = keys.filter(({ key }) => !ofRequests.has(key));
  const ofRuns = severalRuns ? runTests(baseline, candidate, untested, shares.runs) : new Map();
  const metrics = keys.map((key): MetricComparison => {
    const tested = ofRequests.get(key.key) ?? ofRuns.get(key.key) ?? null;
    const test = ofRequests.has(key.key) ? 'requests' : ofRuns.has(key.key) ? 'runs' : null;
    return metricComparison(key, { sides, tested, test });
  });
  return { baseline, candidate, metrics, notes: notesOf(baseline, candidate, severalRuns) };
}

function metricComparison(
  key: CompareKey,
  of: {
    readonly sides: readonly [SideValues, SideValues];
    readonly tested: TestedChange | null;
    readonly test: MetricComparison['test'];
  },
): MetricComparison {
  const baseline = of.sides[0].of(key.key);
  const candidate = of.sides[1].of(key.key);
  const change = baseline === null || candidate === null ? null : candidate - baseline;
  const flagged = of.tested !== null && Math.abs(of.tested.change) > of.tested.halfWidth;
  return {
    ...key,
    baseline,
    candidate,
    change,
    changeRatio: change === null || baseline === null || baseline === 0 ? null : change / baseline,
    interval: of.tested && intervalOf(key, of.tested, requestCount(of.sides[1].side)),
    test: of.test,
    flagged,
    verdict: flagged && of.tested ? verdictOf(key, of.tested.change) : null,
  };
}

function intervalOf(
  key: CompareKey,
  tested: TestedChange,
  requests: number | null,
): MetricComparison['interval'] {
  const { change, halfWidth, scale } = tested;
  if (scale === 'ratio')
    return { kind: 'ratio', low: Math.exp(change - halfWidth) - 1, high: Math.exp(change + halfWidth) - 1 };
  // Failures are tested as a share of the requests and stated as a count.
  const factor = key.key === failedKey && requests !== null ? requests : 1;
  return { kind: 'difference', low: (change - halfWidth) * factor, high: (change + halfWidth) * factor };
}

function verdictOf({ better }: CompareKey, change: number): MetricComparison['verdict'] {
  if (better === 'neither') return 'changed';
  return change < 0 === (better === 'lower') ? 'better' : 'worse';
}

function notesOf(baseline: Side, candidate: Side, severalRuns: boolean): string[] {
  const notes = [baseline, candidate].flatMap(({ runs }) => runs.flatMap(({ notes: own }) => own));
  const withoutRequests = [baseline, candidate].filter((side) => requestCount(side) === null);
  for (const { label } of withoutRequests)
    notes.push(
      `${label} holds no list of requests, so its distributions are not tested. Compare run folders (--run-dir), or save with --save-detailed.`,
    );
  if (!severalRuns)
    notes.push(
      'One run a side: intervals cover the scatter of requests within the runs, not that from run to run. Several runs a side (A1,A2 B1,B2) cover both.',
    );
  return [...new Set(notes)];
}
