import { join, resolve } from 'node:path';
import { withoutSecrets } from '../../foundation/command-secrets.ts';
import { messageOf, OutputFileError } from '../../foundation/errors.ts';
import { joinShellWords } from '../../foundation/shell-words.ts';
import { omnimeterVersion } from '../../foundation/version.ts';
import type { CommandIo } from '../serve/options.ts';
import { writeJsonFile } from '../sweep/run-files.ts';
import { type BenchCase, type CaseChoice, type CaseFile, chosenCases, readCaseFile } from './case-file.ts';
import { type CaseOutcome, exitCodeOf, outcomeTable } from './case-outcome.ts';
import { healthUrl } from './case-server.ts';
import { benchWords, CaseSession, type Programs } from './case-session.ts';
import { checkCases } from './check-cases.ts';
import type { Variables } from './expand-variables.ts';
import { judgeAggregate } from './judge-aggregate.ts';
import { summaryFile } from './results-folder.ts';

/** Everything that `bench cases` was asked to do. */
export type CasesOptions = {
  readonly file: string;
  readonly resultsDir: string;
  readonly choice: CaseChoice;
  readonly dryRun: boolean;
  /** Go on with the next case where one fails. */
  readonly keepGoing: boolean;
  readonly env: Variables;
  readonly programs: Programs;
};

const interrupted = 130;

/**
 * Goes through the chosen cases of a file: starts the servers that each needs, measures, judges, and sums up in
 * `summary.json` of the results folder.
 * @returns exit code 3 where a condition broke, else 1 where a case did not run, 130 when interrupted
 * @throws InputFileError for a file that is none, with nothing chosen, or with a case that could not run; nothing has
 * been started
 */
export async function runCases(options: CasesOptions, io: CommandIo): Promise<{ exitCode: number }> {
  const file = readCaseFile(options.file, options.resultsDir, options.env);
  const chosen = chosenCases(file, options.choice);
  await checkCases(chosen, options);
  if (options.dryRun) {
    for (const line of planLines(chosen, file)) io.stdout(line);
    return { exitCode: 0 };
  }
  const resultsDir = resolve(options.resultsDir);
  const session = new CaseSession(resultsDir, options.programs, io);
  const outcomes: CaseOutcome[] = [];
  try {
    for (const which of chosen) {
      const why = session.isInterrupted ? 'interrupted' : failedBefore(outcomes, options.keepGoing);
      outcomes.push(why === null ? await session.run(which) : skipped(which, why));
    }
  } finally {
    await session.close();
  }
  for (const aggregate of file.aggregates) {
    const outcome = judgeAggregate(aggregate, chosen, resultsDir, io.stdout);
    outcomes.push(outcome);
  }
  for (const line of outcomeTable(outcomes)) io.stdout(line);
  const exitCode = session.isInterrupted ? interrupted : exitCodeOf(outcomes);
  writeSummary(join(resultsDir, summaryFile), summaryOf(file, outcomes, exitCode));
  io.stderr(`Results are in ${resultsDir}`);
  return { exitCode };
}

function writeSummary(path: string, summary: unknown): void {
  try {
    writeJsonFile(path, summary, 2);
  } catch (cause) {
    throw new OutputFileError(`${path}: the summary cannot be written: ${messageOf(cause)}`, { cause });
  }
}

function failedBefore(outcomes: readonly CaseOutcome[], keepGoing: boolean): string | null {
  const failed = outcomes.find(({ status }) => status === 'failed');
  return keepGoing || failed === undefined ? null : `not begun, since ${failed.label} failed`;
}

function skipped({ label, dir }: BenchCase, reason: string): CaseOutcome {
  const none = { durationS: null, gates: [], completed: null, failed: null };
  return { label, kind: 'case', status: 'skipped', reason, dir, ...none };
}

function summaryOf({ name }: CaseFile, outcomes: readonly CaseOutcome[], exitCode: number): unknown {
  return {
    format: 'omnimeter-cases',
    version: 1,
    omnimeter_version: omnimeterVersion,
    name,
    exit_code: exitCode,
    cases: outcomes.map(({ durationS, ...outcome }) => ({ ...outcome, duration_s: durationS })),
  };
}

/** What would be done, without doing it. */
function planLines(chosen: readonly BenchCase[], { aggregates }: CaseFile): string[] {
  const servers = new Map(chosen.flatMap((each) => each.servers.map((server) => [server.name, server])));
  const labels = new Set(chosen.map(({ label }) => label));
  return [
    ...[...servers.values()].flatMap((server) => [
      `[server ${server.name}] ${[...assignments(server.env), joinShellWords(withoutSecrets(server.words))].join(' ')}`,
      `  ready when ${healthUrl(server)} answers, within ${server.readyTimeoutS} s`,
    ]),
    ...chosen.flatMap((which) => [
      `[case ${which.label}] servers: ${which.servers.map(({ name }) => name).join(', ') || 'none'}`,
      `  ${[...assignments(which.env), 'omnimeter bench serve', joinShellWords(withoutSecrets(benchWords(which)))].join(' ')}`,
      ...which.gates.map(({ text }) => `  must hold: ${text}`),
      ...which.failOn.map(({ text }) => `  must not hold against the baseline: ${text}`),
    ]),
    ...aggregates
      .filter(({ cases }) => cases.every((label) => labels.has(label)))
      .map(
        ({ label, cases, minIaQtf1 }) =>
          `[aggregate ${label}] IA-QTF1 of ${cases.join(', ')} >= ${minIaQtf1}`,
      ),
  ];
}

const secretNames = /key|token|secret|password/i;

/** As a shell has them; what a name says is secret is not shown. */
function assignments(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).map(
    ([name, value]) => `${name}=${secretNames.test(name) ? '***' : joinShellWords([value])}`,
  );
}
