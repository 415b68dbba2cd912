import { existsSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { InputFileError, messageOf, OmnimeterError } from '../../foundation/errors.ts';
import type { BenchCase } from './case-file.ts';
import { benchWords, type Programs } from './case-session.ts';
import type { Variables } from './expand-variables.ts';

/** What cases are checked against. */
export type CaseCheck = {
  /** The case file, for messages. */
  readonly file: string;
  readonly resultsDir: string;
  readonly env: Variables;
  readonly programs: Pick<Programs, 'check'>;
};

/**
 * Finds out before a server is started, which may take half an hour, what would keep cases from running.
 * @throws InputFileError naming all of it
 */
export async function checkCases(cases: readonly BenchCase[], check: CaseCheck): Promise<void> {
  const problems: string[] = [];
  for (const which of cases)
    for (const problem of await problemsOf(which, check)) problems.push(`${which.label}: ${problem}`);
  if (problems.length > 0) throw new InputFileError(`${check.file}: ${problems.join('\n')}`);
}

async function problemsOf(which: BenchCase, { resultsDir, env, programs }: CaseCheck): Promise<string[]> {
  const problems: string[] = [];
  try {
    await programs.check(benchWords(which), { ...env, ...which.env });
  } catch (error) {
    if (!(error instanceof OmnimeterError)) throw error;
    // Not the list of all flags, which would stand there for each case.
    const [reason] = messageOf(error).split('\nAllowed flags:');
    problems.push(`bench serve would refuse its flags: ${reason}`);
  }
  const { baseline } = which;
  if (typeof baseline === 'string' && !isAwaited(baseline, resultsDir) && !existsSync(baseline))
    problems.push(`the baseline is not there: ${baseline}. Expected a result file or a run folder.`);
  return problems;
}

/** Results of a case may be the baseline of one after it. */
function isAwaited(baseline: string, resultsDir: string): boolean {
  return baseline.startsWith(resolve(resultsDir) + sep);
}
