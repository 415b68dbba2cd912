import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SweepOptions } from '../../bench/sweep/sweep-options.ts';
import { dateLabelOf } from '../../report/result-file-name.ts';
import { allBenchServeFlags, type benchServeFlags } from '../flags/bench-serve/bench-serve-flags.ts';
import type { FlagValues } from '../flags/flag.ts';
import { readArguments } from '../flags/read-arguments.ts';
import { loadListFlags, numRunsFlag } from '../flags/sweep/sweep-flags.ts';
import { benchCommand, withLists } from '../sweep/sweep-command-options.ts';

type Flags = FlagValues<typeof benchServeFlags>;

/** Flags that are the list's own, and those that say where its results go. */
const ownFlags: ReadonlySet<string> = new Set([...Object.keys(loadListFlags), ...Object.keys(numRunsFlag)]);
const placeFlags: ReadonlySet<string> = new Set([
  'save-result',
  'append-result',
  'result-dir',
  'result-filename',
]);

/** Whether `bench serve` was asked for more than one run. */
export function asksForRuns(flags: Flags): boolean {
  return (
    flags['num-runs'] > 1 ||
    (flags['sweep-max-concurrency'] ?? []).length > 0 ||
    (flags['sweep-request-rate'] ?? []).length > 0 ||
    flags['sweep-num-prompts-factor'] !== null
  );
}

/** What becomes of flags that name one place for what each of several runs makes. */
export function listNotes(flags: Flags): string[] {
  const place = 'the result of each run is a file run=K.json in a folder of its level';
  const notes: string[] = [];
  if (flags['result-filename'] !== null)
    notes.push(`--result-filename has no effect on several runs: ${place}.`);
  if (flags['append-result']) notes.push(`--append-result appends nothing with several runs: ${place}.`);
  if (flags.html !== null)
    notes.push('--html: one page for each run, with its level and number in the name.');
  return notes;
}

/**
 * `bench serve` over simple lists as a sweep of itself against a server that runs: each run is a process of its own, so
 * that none inherits the heap or the connections of another.
 * @throws UsageError for a value of a list that is none
 */
export function listedBench(argv: readonly string[], flags: Flags, now: Date): SweepOptions {
  const saves = flags['save-result'] || flags['append-result'] || flags['result-dir'] !== null;
  const parent = saves ? (flags['result-dir'] ?? '.') : mkdtempSync(join(tmpdir(), 'omnimeter-sweep-'));
  const words = ['omnimeter', 'bench', 'serve', ...withoutLists(argv, flags)];
  return withLists(
    {
      serve: null,
      bench: benchCommand(words),
      afterBench: null,
      showStdout: true,
      serverReadyTimeoutS: 0,
      serveItems: [{}],
      benchItems: [{}],
      links: [],
      experimentDir: join(parent, `sweep-${dateLabelOf(now)}`),
      numRuns: flags['num-runs'],
      warmupNumPrompts: 0,
      continueOnError: false,
      dryRun: false,
      resume: false,
      resumeHint: null,
    },
    flags,
  );
}

/**
 * The command line of one run: without the lists, and without a place for results, which the sweep chooses. Lists from
 * a configuration file or the environment are taken back.
 */
function withoutLists(argv: readonly string[], { html }: Flags): string[] {
  const { assignments } = readArguments(argv, allBenchServeFlags);
  const kept = assignments
    .filter(({ name }) => !ownFlags.has(name) && !placeFlags.has(name))
    .flatMap(({ spelled, texts, negated }) => {
      if (texts.length === 0) return [negated ? spelled.replace(/^--(?!no-)/, '--no-') : spelled];
      const [only = ''] = texts;
      return texts.length === 1 && only.startsWith('-') ? [`${spelled}=${only}`] : [spelled, ...texts];
    });
  // From wherever it comes, it must be in sight to become a page for each run.
  if (html !== null && !assignments.some(({ name }) => name === 'html')) kept.push('--html', html);
  const configured = assignments.some(({ name }) => name === 'config');
  return configured
    ? [...kept, '--num-runs', '1', '--sweep-max-concurrency=', '--sweep-request-rate=']
    : kept;
}
