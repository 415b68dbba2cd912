import { join } from 'node:path';
import { poolEvaluations } from '../../accuracy/omniinteract/pool-evaluations.ts';
import { pooledTable } from '../../accuracy/omniinteract/pooled-table.ts';
import { messageOf, OmnimeterError } from '../../foundation/errors.ts';
import { writeJsonFile } from '../sweep/run-files.ts';
import type { Aggregate, BenchCase } from './case-file.ts';
import type { CaseOutcome } from './case-outcome.ts';
import { aggregateFile } from './results-folder.ts';

/** Result file of a case, in its folder. */
export const resultFile = 'result.json';

/**
 * Judges the pooled score of several cases. A case that has no result breaks it; one that was not chosen leaves it
 * unjudged.
 * @param resultsDir where the pooled counts are written, as `<label>.json`
 */
export function judgeAggregate(
  { label, cases, minIaQtf1 }: Aggregate,
  run: readonly BenchCase[],
  resultsDir: string,
  say: (line: string) => void,
): CaseOutcome {
  const base = {
    label,
    kind: 'aggregate',
    durationS: null,
    completed: null,
    failed: null,
    dir: null,
  } as const;
  const missing = cases.filter((each) => !run.some((one) => one.label === each));
  if (missing.length > 0)
    return { ...base, status: 'skipped', reason: `not judged without ${missing.join(', ')}`, gates: [] };
  const gate = `omniinteract_aggregate_min_ia_qtf1 ${minIaQtf1}`;
  const paths = cases.flatMap((each) => {
    const found = run.find((one) => one.label === each);
    return found === undefined ? [] : [join(found.dir, resultFile)];
  });
  try {
    const pooled = poolEvaluations(paths, minIaQtf1);
    writeJsonFile(join(resultsDir, aggregateFile(label)), pooled, 2);
    for (const line of pooledTable(pooled)) say(line);
    for (const doubt of pooled.warnings) say(`warning: ${doubt}`);
    const passed = pooled.broken.length === 0;
    const detail = passed ? `All Global IA-QTF1 = ${pooled.pooled.IA_QTF1}` : pooled.broken.join('; ');
    return { ...base, status: passed ? 'passed' : 'broken', reason: null, gates: [{ gate, passed, detail }] };
  } catch (error) {
    if (!(error instanceof OmnimeterError)) throw error;
    return {
      ...base,
      status: 'broken',
      reason: null,
      gates: [{ gate, passed: false, detail: messageOf(error) }],
    };
  }
}
