import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { checkOutputs, fileAt, type OutputPath } from '../../foundation/check-outputs.ts';
import { messageOf, UsageError } from '../../foundation/errors.ts';
import { makeFolder } from '../../foundation/make-folder.ts';
import { runFiles } from '../../records/journal.ts';
import { compareKey } from '../../report/compare/compare-key.ts';
import { type Comparison, compareSides } from '../../report/compare/compare-sides.ts';
import type { Side } from '../../report/compare/compared-run.ts';
import { renderComparisonHtml } from '../../report/compare/comparison-html.ts';
import { comparisonJson } from '../../report/compare/comparison-json.ts';
import { renderComparisonJunit } from '../../report/compare/comparison-junit.ts';
import { renderComparisonMarkdown } from '../../report/compare/comparison-markdown.ts';
import type { JudgedComparison } from '../../report/compare/comparison-report.ts';
import { renderComparison } from '../../report/compare/comparison-terminal.ts';
import {
  checkGateKey,
  type Gate,
  type GateResult,
  judgeChange,
  judgeThreshold,
} from '../../report/compare/gate.ts';
import type { CommandIo } from '../serve/options.ts';
import { readSide } from './read-side.ts';

type CompareIo = Pick<CommandIo, 'stdout' | 'stderr'>;

/** Everything that `compare` was asked to do. */
export type RunCompareOptions = {
  /** The baseline, then the candidates. */
  readonly sides: readonly string[];
  readonly gates: readonly Gate[];
  /** A change breaks a condition only if it is more than scatter, as far as that can be tested. */
  readonly significantOnly: boolean;
  /** Every metric that got worse by more than scatter breaks the comparison. */
  readonly failOnRegression: boolean;
  readonly familyError: number;
  readonly seed: number;
  /** Files to write; `-` is standard output, `null` none. */
  readonly outputs: Readonly<Record<ComparisonFormat, string | null>>;
  /** The summary of a GitHub job, appended to; `null` = there is none. */
  readonly stepSummary: string | null;
};

export type ComparisonFormat = 'json' | 'markdown' | 'html' | 'junit';

/**
 * Compares runs with a baseline, prints and writes what was asked for, and judges the conditions.
 * @returns exit code 3 where a condition broke, else 2 where an output could not be written
 * @throws UsageError for a name or key that does not exist; InputFileError
 */
export async function runCompare(options: RunCompareOptions, io: CompareIo): Promise<{ exitCode: number }> {
  const percentiles = options.gates.flatMap(({ key }) => {
    const { statistic } = compareKey(key);
    return typeof statistic === 'object' && statistic !== null ? [statistic.percentile] : [];
  });
  const sides: Side[] = [];
  for (const name of options.sides) sides.push(await readSide(name, percentiles));
  checkOutputs(outputPaths(options.outputs), sides.flatMap(filesOf));
  const observed = new Set(sides.flatMap(({ runs }) => runs.flatMap(({ values }) => [...values.keys()])));
  for (const gate of options.gates) checkGateKey(gate, observed);
  const [baseline, ...candidates] = sides;
  if (!baseline) throw new Error('compare without a baseline');
  const judged = candidates.map((candidate): JudgedComparison => {
    const comparison = compareSides(baseline, candidate, {
      familyError: options.familyError,
      seed: options.seed,
      askedKeys: options.gates.map(({ key }) => key),
    });
    return { comparison, gates: judge(comparison, options) };
  });
  const problems = writeOutputs(judged, options, io);
  for (const problem of problems) io.stderr(`error: ${problem}`);
  const broken = judged.some(({ gates }) => gates.some(({ passed }) => !passed));
  return { exitCode: broken ? 3 : problems.length > 0 ? 2 : 0 };
}

/** @throws UsageError where two documents would be put together on standard output */
function outputPaths(outputs: RunCompareOptions['outputs']): OutputPath[] {
  const named = Object.entries(outputs).flatMap(([format, path]) =>
    path === null ? [] : [{ flag: `--${format}`, path }],
  );
  const printed = named.filter(({ path }) => path === '-').map(({ flag }) => flag);
  if (printed.length > 1)
    throw new UsageError(
      `${printed.join(' and ')}: only one output can go to standard output ('-'). Name a file for the others.`,
    );
  return named.filter(({ path }) => path !== '-');
}

/** The files that a side was read from. A source with several runs is named with the line. */
function filesOf({ runs }: Side): string[] {
  return [...new Set(runs.map(({ source }) => source))].flatMap((source) => {
    const path = existsSync(source) ? source : source.replace(/:\d+$/, '');
    return fileAt(path)?.isDirectory() ? runFiles(path) : [path];
  });
}

function judge(comparison: Comparison, options: RunCompareOptions): GateResult[] {
  const results = options.gates.map((gate) => {
    const metric = comparison.metrics.find(({ key }) => key === gate.key);
    const candidate = metric?.candidate ?? null;
    if (gate.kind === 'threshold') return judgeThreshold(gate, candidate);
    const excused =
      options.significantOnly && metric !== undefined && metric.test !== null && !metric.flagged;
    return judgeChange(gate, metric?.baseline ?? null, candidate, excused);
  });
  return options.failOnRegression ? [...results, ...regressions(comparison)] : results;
}

/** One result per tested metric that must not get worse; those that did, or one that says that none did. */
function regressions(comparison: Comparison): GateResult[] {
  const gate = {
    kind: 'fail-on',
    text: 'regression',
    key: '*',
    operator: '>',
    limit: 0,
    relative: false,
  } as const;
  const worse = comparison.metrics.filter(({ verdict }) => verdict === 'worse');
  const tested = comparison.metrics.some(({ test }) => test !== null);
  if (!tested) return [{ gate, passed: false, observed: null, detail: 'nothing could be tested' }];
  if (worse.length === 0) return [{ gate, passed: true, observed: 0, detail: 'no metric got worse' }];
  return worse.map(({ key, change }) => ({
    gate: { ...gate, key, text: `regression of ${key}` },
    passed: false,
    observed: change,
    detail: `${key} got worse by more than scatter`,
  }));
}

/** @returns what could not be written: one output must not cost the others */
function writeOutputs(
  judged: readonly JudgedComparison[],
  options: RunCompareOptions,
  io: CompareIo,
): string[] {
  const { familyError, outputs } = options;
  const markdown = (): string => judged.map((each) => renderComparisonMarkdown(each, familyError)).join('\n');
  const made: Readonly<Record<ComparisonFormat, () => string>> = {
    json: () => `${JSON.stringify(comparisonJson(judged, familyError), null, 2)}\n`,
    markdown,
    html: () => renderComparisonHtml(judged, familyError),
    junit: () => renderComparisonJunit(judged),
  };
  const printed = Object.values(outputs).includes('-');
  // Where a file goes to standard output, people read on standard error, and the output stays one document.
  const say = printed ? io.stderr : io.stdout;
  for (const [i, each] of judged.entries()) {
    if (i > 0) say('');
    for (const line of renderComparison(each, familyError)) say(line);
  }
  const problems: (string | null)[] = [];
  for (const [format, make] of Object.entries(made)) {
    const path = outputs[format as ComparisonFormat];
    if (path === '-') io.stdout(make().trimEnd());
    else if (path !== null) problems.push(write(path, make(), { append: false }));
  }
  if (options.stepSummary !== null)
    problems.push(write(options.stepSummary, `${markdown()}\n`, { append: true }));
  return problems.filter((problem) => problem !== null);
}

/** @returns what went wrong, or `null` */
function write(path: string, text: string, { append }: { append: boolean }): string | null {
  try {
    makeFolder(dirname(path));
    if (append) appendFileSync(path, text);
    else writeFileSync(path, text);
    return null;
  } catch (error) {
    return `cannot write ${path}: ${messageOf(error)}. Name a file that can be written.`;
  }
}
