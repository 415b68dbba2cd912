import { InputFileError } from '../../foundation/errors.ts';
import { sweepLockFile } from '../sweep/sweep-lock.ts';

/** What came of all cases. */
export const summaryFile = 'summary.json';

/** What a server printed. */
export function serverLogFile(server: string): string {
  return `server-${server}.log`;
}

/** The pooled counts of an aggregate. */
export function aggregateFile(label: string): string {
  return `${label}.json`;
}

/** What of a case file has something of its own in the results folder, by name. */
export type NamedResults = {
  readonly servers: readonly string[];
  readonly cases: readonly string[];
  readonly aggregates: readonly string[];
};

/**
 * Each has its own place in the results folder: a case a folder by its label, the others a file.
 * @throws InputFileError where two would have the same
 */
export function checkResultNames(path: string, { servers, cases, aggregates }: NamedResults): void {
  const places = [
    { name: summaryFile, what: 'the summary of all cases' },
    { name: sweepLockFile, what: 'the mark of a run under way' },
    ...servers.map((server) => ({ name: serverLogFile(server), what: `the log of server '${server}'` })),
    ...aggregates.map((label) => ({ name: aggregateFile(label), what: `the file of aggregate '${label}'` })),
    ...cases.map((label) => ({ name: label, what: `the folder of case '${label}'` })),
  ];
  const taken = new Map<string, string>();
  for (const { name, what } of places) {
    const other = taken.get(name);
    if (other !== undefined)
      throw new InputFileError(
        `${path}: ${other} and ${what} would both be '${name}' in the results folder. Give one of them another name.`,
      );
    // A file is written under this name first.
    taken.set(name, what).set(`${name}.part`, what);
  }
}
