import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { withoutSecrets } from '../../foundation/command-secrets.ts';
import { messageOf, UsageError } from '../../foundation/errors.ts';
import { joinShellWords } from '../../foundation/shell-words.ts';
import type { CommandIo } from '../serve/options.ts';
import { applyParameters } from './apply-parameters.ts';
import { benchWords, removeCutOff } from './bench-words.ts';
import { fileNameOf } from './combinations.ts';
import { keepCommands } from './kept-commands.ts';
import { itemName, type ParameterItem } from './parameter-file.ts';
import { checkParameters, readFinishedRun, readRunFile, removeFile, writeJsonFile } from './run-files.ts';
import type { ServerUnderTest } from './server-under-test.ts';
import type { RunData, SweepOptions } from './sweep-options.ts';
import { BenchmarkFailedError, SweepProcesses } from './sweep-processes.ts';

/** One combination, and where it goes. */
export type Combination = {
  readonly serveItem: ParameterItem;
  readonly benchItem: ParameterItem;
  readonly folder: string;
};

type OneRun = Combination & { readonly runNumber: number; readonly fileName: string };

/** How `bench serve` ends when a threshold broke: the run itself took place. */
const brokenThreshold = 3;
/** The key of a stored run that says so, for those who go on with the sweep; absent = none broke. */
const brokenKey = 'thresholds_broken';

/** The state of a sweep while it goes through its combinations: what is stored, and what went wrong. */
export class SweepSession {
  readonly options: SweepOptions;
  readonly #io: CommandIo;
  readonly #processes: SweepProcesses;
  readonly #notes = new Set<string>();
  /** Runs or servers that failed and were passed over. */
  failures = 0;
  /** Runs whose own threshold broke. */
  broken = 0;
  #reused = 0;
  #reusedBroken = 0;

  /**
   * @throws UsageError when the experiment is there already, or is not there to resume, or was measured with other
   * commands
   */
  constructor(options: SweepOptions, io: CommandIo) {
    this.options = options;
    this.#io = io;
    const { experimentDir, resume, dryRun } = options;
    if (!dryRun && resume && !existsSync(experimentDir))
      throw new UsageError(
        `--resume: there is no ${experimentDir}. Name the experiment with --experiment-name.`,
      );
    if (!dryRun && !resume && existsSync(experimentDir))
      throw new UsageError(
        `${experimentDir} exists. Give --resume to go on with it, or --experiment-name another name.`,
      );
    this.#processes = new SweepProcesses(options, io);
    try {
      keepCommands(options, (line) => this.#note(line));
    } catch (error) {
      this.close();
      throw error;
    }
  }

  say(line: string): void {
    this.#io.stdout(line);
  }

  close(): void {
    this.#processes.close();
  }

  /** Where a run of a combination is stored. */
  static runFile(folder: string, runNumber: number): string {
    return join(folder, `run=${runNumber}.json`);
  }

  /** Whether every run of a combination is stored. */
  isDone(combination: Combination): boolean {
    return this.storedRuns(combination).length === this.options.numRuns;
  }

  /**
   * The runs of a combination that are stored.
   * @throws UsageError where one was measured with other parameters, under the same name
   */
  storedRuns(combination: Combination): RunData[] {
    const paths = Array.from({ length: this.options.numRuns }, (_, k) =>
      SweepSession.runFile(combination.folder, k),
    );
    return paths.flatMap((path) => {
      const run = readFinishedRun(path);
      if (run === null) return [];
      checkParameters(run, { ...combination.serveItem, ...combination.benchItem }, path);
      return [run];
    });
  }

  /** Says how much of the outcome is from an earlier start. */
  sayReused(): void {
    if (this.#reused === 0 || this.options.dryRun) return;
    const broken = this.#reusedBroken === 0 ? '' : ` ${this.#reusedBroken} of them broke a threshold.`;
    const runs = this.#reused === 1 ? '1 run was' : `${this.#reused} runs were`;
    this.#io.stderr(`note: ${runs} stored already and not measured again.${broken}`);
  }

  /**
   * Runs `use` with a server of this setting, or without one where nothing is left to measure.
   * With `--continue-on-error` a server that fails is written down and passed over.
   */
  async withServer(
    serveItem: ParameterItem,
    needed: boolean,
    use: (server: ServerUnderTest | null) => Promise<void>,
  ): Promise<void> {
    if (!needed) return use(null);
    const name = itemName(serveItem) || 'default';
    const failureFile = join(this.options.experimentDir, fileNameOf(`SERVE-${name}-failure.json`));
    try {
      const server = await this.#startServer(serveItem);
      try {
        await use(server);
      } finally {
        await server?.stop();
        if (this.options.serve !== null) this.say('[END SERVER]');
      }
      if (!this.options.dryRun) removeFile(failureFile);
    } catch (error) {
      this.checkInterrupts();
      if (!this.options.continueOnError) throw error;
      this.failures += 1;
      writeJsonFile(failureFile, { ...failureOf(error), serve_overrides: serveItem }, 2);
      this.say(`[FAILED SERVER COMBINATION] ${name}: ${messageOf(error)}`);
      this.say(`Failure details: ${failureFile}`);
    }
  }

  async #startServer(serveItem: ParameterItem): Promise<ServerUnderTest | null> {
    const { serve, dryRun } = this.options;
    const note = (line: string): void => this.#note(line);
    if (serve === null) return dryRun ? null : this.#processes.server(null, note);
    const words = applyParameters(serve.words, serveItem);
    this.say('[BEGIN SERVER]');
    this.say(`Server overrides: ${JSON.stringify(serveItem)}`);
    this.say(`Server command: ${joinShellWords(withoutSecrets(words))}`);
    if (dryRun) return null;
    return this.#processes.server(words, note);
  }

  /**
   * All runs of one combination, those that are stored already among them, and its `summary.json`.
   * @param server `null` where all are stored, or nothing is to be run
   */
  async runCombination(combination: Combination, server: ServerUnderTest | null): Promise<RunData[]> {
    const { numRuns, warmupNumPrompts, dryRun } = this.options;
    if (warmupNumPrompts > 0 && !this.isDone(combination))
      await this.#run(
        {
          ...combination,
          benchItem: { ...combination.benchItem, num_prompts: warmupNumPrompts },
          runNumber: -1,
          fileName: 'warmup.json',
        },
        server,
      );
    const runs: RunData[] = [];
    for (let runNumber = 0; runNumber < numRuns; runNumber += 1) {
      const fileName = basename(SweepSession.runFile('', runNumber));
      const data = await this.#run({ ...combination, runNumber, fileName }, server);
      if (data !== null) runs.push(data);
    }
    if (dryRun) return [];
    if (runs.length === 0) this.say('[NO SUCCESSFUL MEASURED RUNS] leaving combination retryable');
    else writeJsonFile(join(combination.folder, 'summary.json'), runs, 4);
    return runs;
  }

  async #run(run: OneRun, server: ServerUnderTest | null): Promise<RunData | null> {
    const path = join(run.folder, run.fileName);
    const failureFile = path.replace(/\.json$/, '.failure.json');
    try {
      const data = await this.#measured(run, path, server);
      if (data !== null && !this.options.dryRun) removeFile(failureFile);
      return data;
    } catch (error) {
      this.checkInterrupts();
      if (!this.options.continueOnError) throw error;
      this.failures += 1;
      const { runNumber, serveItem, benchItem } = run;
      const failure = { run_number: runNumber, ...failureOf(error) };
      writeJsonFile(failureFile, { ...failure, serve_overrides: serveItem, bench_overrides: benchItem }, 2);
      this.say(`[FAILED BENCHMARK] run=${runNumber}: ${messageOf(error)}`);
      this.say(`Failure details: ${failureFile}`);
      await server?.resetCaches().catch(() => {});
      return null;
    }
  }

  async #measured(run: OneRun, path: string, server: ServerUnderTest | null): Promise<RunData | null> {
    const { options } = this;
    const place = { folder: run.folder, fileName: run.fileName, experimentDir: options.experimentDir };
    const words = benchWords(options.bench.words, run.benchItem, place);
    this.say('[BEGIN BENCHMARK]');
    this.say(`Benchmark overrides: ${JSON.stringify(run.benchItem)}`);
    this.say(`Run Number: ${run.runNumber}`);
    this.say(`Benchmark command: ${joinShellWords(withoutSecrets(words))}`);
    this.say(`Output file: ${path}`);
    const stored = readFinishedRun(path);
    if (stored !== null) {
      this.say('Found existing results.');
      this.say('[SKIPPED BENCHMARK]');
      this.#countReused(stored, run);
      return withOverrides(stored, run);
    }
    if (server === null) {
      this.say('[END BENCHMARK]');
      return null;
    }
    removeCutOff(words);
    const code = await this.#processes.execute(options.bench, words, [0, brokenThreshold]);
    const { afterBench } = options;
    if (afterBench === null) await server.resetCaches();
    else await this.#processes.execute({ words: afterBench, program: null }, afterBench, [0]);
    const data = readRunFile(path);
    if (data === null)
      throw new BenchmarkFailedError(
        `the benchmark wrote no result to ${path}. Its command must be one that takes --save-result, --result-dir and --result-filename.`,
      );
    const broke = code === brokenThreshold;
    const finished = withOverrides(broke ? { ...data, [brokenKey]: true } : data, run);
    writeJsonFile(path, finished, 4);
    // A warm-up is not judged.
    if (broke && run.runNumber >= 0) this.broken += 1;
    this.say('[END BENCHMARK]');
    return finished;
  }

  #countReused(stored: RunData, { runNumber }: OneRun): void {
    if (runNumber < 0) return;
    this.#reused += 1;
    if (stored[brokenKey] !== true) return;
    this.#reusedBroken += 1;
    this.broken += 1;
  }

  /** @throws SweepInterrupted where the user stopped the sweep while nothing was being measured */
  checkInterrupts(): void {
    this.#processes.checkInterrupts();
  }

  #note(line: string): void {
    if (this.#notes.has(line)) return;
    this.#notes.add(line);
    this.#io.stderr(`note: ${line}`);
  }
}

function withOverrides(data: RunData, { runNumber, serveItem, benchItem }: OneRun): RunData {
  return { ...data, run_number: runNumber, ...serveItem, ...benchItem };
}

function failureOf(error: unknown): { error_type: string; error: string } {
  return { error_type: error instanceof Error ? error.name : 'Error', error: messageOf(error) };
}
