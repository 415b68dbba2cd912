import type { LinkVariable } from './combinations.ts';
import type { ParameterItem } from './parameter-file.ts';

/** A command of the sweep: as the user wrote it, and what is started. */
export type SweepCommand = {
  /** As printed and as parameters are applied to it. */
  readonly words: readonly string[];
  /** What takes the place of the first words when it is started. */
  readonly program: { readonly replaces: number; readonly words: readonly string[] } | null;
};

/** Everything that a sweep was asked to do. */
export type SweepOptions = {
  /** `null` = a server is running already, and stays. */
  readonly serve: SweepCommand | null;
  readonly bench: SweepCommand;
  /** What is run after each benchmark in place of emptying the server's caches; `null` = the latter. */
  readonly afterBench: readonly string[] | null;
  readonly showStdout: boolean;
  readonly serverReadyTimeoutS: number;
  readonly serveItems: readonly ParameterItem[];
  readonly benchItems: readonly ParameterItem[];
  readonly links: readonly LinkVariable[];
  readonly experimentDir: string;
  readonly numRuns: number;
  /** Requests of an unmeasured run before those of a combination; 0 = none. */
  readonly warmupNumPrompts: number;
  readonly continueOnError: boolean;
  readonly dryRun: boolean;
  readonly resume: boolean;
  /** The command that goes on with this sweep; `null` = it can't be gone on with. */
  readonly resumeHint: string | null;
};

/** What `serve_workload` explores. */
export type WorkloadOptions = {
  readonly variable: 'request_rate' | 'max_concurrency';
  /** Levels, the two ends among them; at least 2. */
  readonly iterations: number;
};

/** A run's result as the sweep stores it: the benchmark's JSON, `run_number` and the parameters. */
export type RunData = Readonly<Record<string, unknown>>;

/** The runs of one combination. */
export type CombinationRuns = { readonly folder: string; readonly runs: readonly RunData[] };

/** The words to start a command with. */
export function startWords(command: SweepCommand, words: readonly string[]): string[] {
  const { program } = command;
  return program === null ? [...words] : [...program.words, ...words.slice(program.replaces)];
}
