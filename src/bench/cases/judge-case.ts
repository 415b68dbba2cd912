import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, OmnimeterError } from '../../foundation/errors.ts';
import { parseTolerantJson } from '../../foundation/tolerant-json.ts';
import { type Gate, judgeThreshold } from '../../report/compare/gate.ts';
import { runCompare } from '../compare/run-compare.ts';
import { writeJsonFile } from '../sweep/run-files.ts';
import type { BenchCase } from './case-file.ts';

/** How a condition came out. */
export type GateOutcome = { readonly gate: string; readonly passed: boolean; readonly detail: string };

/** A result JSON. */
export type CaseResult = Readonly<Record<string, unknown>>;

/** A case's result; `null` = there is none, or it was cut off. */
export function readResult(path: string): CaseResult | null {
  try {
    const value = parseTolerantJson(readFileSync(path, 'utf8'));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is CaseResult {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A number in a result, by a path with dots; yes counts 1 and no 0. `null` = there is none.
 */
export function resultValue(result: CaseResult, key: string): number | null {
  let value: unknown = result[key];
  if (value === undefined)
    value = key.split('.').reduce<unknown>((at, part) => (isObject(at) ? at[part] : undefined), result);
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'number' ? value : null;
}

/**
 * Judges what must hold of a case's result, and of its change against the baseline.
 * @param resultPath the result file
 */
export async function judgeCase(which: BenchCase, resultPath: string): Promise<GateOutcome[]> {
  const result = readResult(resultPath) ?? {};
  const outcomes = which.gates.map((gate) => valueOutcome(gate, result));
  if (which.baseline === null) return outcomes;
  return [...outcomes, ...(await changeOutcomes(which, resultPath))];
}

function valueOutcome(gate: Gate, result: CaseResult): GateOutcome {
  const { passed, detail } = judgeThreshold(gate, resultValue(result, gate.key));
  return { gate: gate.text, passed, detail };
}

/** The change against the baseline, by the program's own comparison, whose report lies beside the result. */
async function changeOutcomes(which: BenchCase, resultPath: string): Promise<GateOutcome[]> {
  const lines: string[] = [];
  const keep = (line: string): void => void lines.push(line);
  const json = join(which.dir, 'comparison.json');
  const baseline = baselinePath(which);
  try {
    const { exitCode } = await runCompare(
      {
        sides: [baseline, resultPath],
        gates: which.failOn,
        significantOnly: false,
        failOnRegression: false,
        familyError: 0.03,
        seed: 0,
        outputs: { json, markdown: join(which.dir, 'comparison.md'), html: null, junit: null },
        stepSummary: null,
      },
      { stdout: keep, stderr: keep },
    );
    if (which.failOn.length === 0) return [];
    return gatesOf(json) ?? [unreadable(which, exitCode === 0, 'see comparison.md')];
  } catch (error) {
    // A baseline that cannot be compared breaks this case's conditions and nobody else's.
    if (!(error instanceof OmnimeterError)) throw error;
    return [unreadable(which, false, messageOf(error))];
  }
}

function unreadable({ failOn, baseline }: BenchCase, passed: boolean, detail: string): GateOutcome {
  const what = failOn.map(({ text }) => text).join(', ');
  const against = typeof baseline === 'string' ? baseline : 'the baseline';
  return { gate: what === '' ? `comparison with ${against}` : what, passed, detail };
}

function baselinePath({ baseline, dir }: BenchCase): string {
  if (typeof baseline === 'string') return baseline;
  const path = join(dir, 'baseline.json');
  writeJsonFile(path, baseline, 2);
  return path;
}

/** The conditions of the one comparison in the file. */
function gatesOf(path: string): GateOutcome[] | null {
  const comparisons = readResult(path)?.comparisons;
  const first: unknown = Array.isArray(comparisons) ? comparisons[0] : null;
  const gates = isObject(first) ? first.gates : null;
  if (!Array.isArray(gates)) return null;
  return gates.filter(isObject).map(({ condition, passed, detail }) => ({
    gate: String(condition),
    passed: passed === true,
    detail: String(detail),
  }));
}
