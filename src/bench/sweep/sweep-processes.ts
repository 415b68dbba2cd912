import { OmnimeterError } from '../../foundation/errors.ts';
import type { CommandIo } from '../serve/options.ts';
import { type GroupProcess, startGroup } from './process-group.ts';
import { runningServer, type ServerUnderTest, startServer } from './server-under-test.ts';
import { SweepLock } from './sweep-lock.ts';
import { type SweepCommand, type SweepOptions, startWords } from './sweep-options.ts';

/** A benchmark of the sweep that ended badly. */
export class BenchmarkFailedError extends OmnimeterError {
  override readonly code = 'BENCHMARK_FAILED';
}

/** The user stopped the sweep. */
export class SweepInterrupted extends Error {}

/** The processes that a sweep starts, one at a time: which are alive stands in its lock, and interrupts reach them. */
export class SweepProcesses {
  readonly #options: SweepOptions;
  readonly #lock: SweepLock | null;
  #bench: GroupProcess | null = null;
  #starting: GroupProcess | null = null;
  #interrupts = 0;

  /** @throws UsageError where another sweep works in the folder */
  constructor(options: SweepOptions, io: CommandIo) {
    this.#options = options;
    const { dryRun, experimentDir } = options;
    this.#lock = dryRun ? null : SweepLock.take(experimentDir, (line) => io.stderr(`note: ${line}`));
    if (!dryRun) io.onInterrupt(() => this.#interrupt());
  }

  close(): void {
    this.#lock?.release();
  }

  /** @throws SweepInterrupted where the user stopped the sweep while nothing was being measured */
  checkInterrupts(): void {
    if (this.#interrupts > 0) throw new SweepInterrupted();
  }

  /** A server by these words; `null` = the one that is running already. */
  async server(words: readonly string[] | null, note: (line: string) => void): Promise<ServerUnderTest> {
    const { serve, serverReadyTimeoutS, showStdout } = this.#options;
    if (serve === null || words === null) return runningServer(note);
    let pid = -1;
    const server = await startServer(serve, words, {
      readyTimeoutS: serverReadyTimeoutS,
      show: showStdout,
      note,
      onStart: (group) => {
        this.#starting = group;
        pid = group.pid;
        this.#lock?.add(pid);
      },
    });
    this.#starting = null;
    return {
      ...server,
      stop: async () => {
        await server.stop();
        this.#lock?.remove(pid);
      },
    };
  }

  /**
   * Runs a command to its end.
   * @param good exit codes of a command that did its work
   * @returns the exit code
   */
  async execute(command: SweepCommand, words: readonly string[], good: readonly number[]): Promise<number> {
    this.checkInterrupts();
    const group = startGroup(startWords(command, words), {
      env: childEnvironment(),
      show: this.#options.showStdout,
      tied: false,
    });
    this.#lock?.add(group.pid);
    this.#bench = group;
    const { code, error } = await group.ended;
    this.#bench = null;
    this.#lock?.remove(group.pid);
    this.checkInterrupts();
    if (!good.includes(code))
      throw new BenchmarkFailedError(
        [
          `'${words.slice(0, 3).join(' ')}' ${error ?? `ended with exit code ${code}`}`,
          ...group.lastLines(),
        ].join('\n'),
      );
    return code;
  }

  /** The benchmark lets open requests end, or aborts them at the second time; it alone gets the signal. */
  #interrupt(): void {
    this.#interrupts += 1;
    this.#bench?.signal('SIGINT');
    this.#starting?.signal('SIGTERM');
  }
}

/** Flags that the environment gives the sweep are not those of its benchmarks. */
function childEnvironment(): NodeJS.ProcessEnv {
  const own = /^OMNIMETER_(NUM_RUNS|SWEEP_.*)$/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name)));
}
