import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { withoutSecrets } from '../../foundation/command-secrets.ts';
import { messageOf, OmnimeterError, UsageError } from '../../foundation/errors.ts';
import { makeFolder } from '../../foundation/make-folder.ts';
import { joinShellWords } from '../../foundation/shell-words.ts';
import type { CommandIo } from '../serve/options.ts';
import { type GroupProcess, startGroup } from '../sweep/process-group.ts';
import { removeFile } from '../sweep/run-files.ts';
import { SweepLock } from '../sweep/sweep-lock.ts';
import { type SweepCommand, startWords } from '../sweep/sweep-options.ts';
import type { BenchCase, CaseServer } from './case-file.ts';
import type { CaseOutcome } from './case-outcome.ts';
import { type RunningServer, startCaseServer } from './case-server.ts';
import type { Variables } from './expand-variables.ts';
import { resultFile } from './judge-aggregate.ts';
import { judgeCase, readResult } from './judge-case.ts';
import { openLog } from './log-file.ts';
import { serverLogFile } from './results-folder.ts';

/** How `bench serve` ends when a condition of its own broke: the run itself took place. */
const brokenThreshold = 3;

/** How commands of a case file are started. */
export type Programs = {
  /** `bench serve …` of this very program. */
  bench(words: readonly string[]): SweepCommand;
  /** A server's command, as written. */
  server(words: readonly string[]): SweepCommand;
  /**
   * Whether `bench serve` would take these words in this environment.
   * @throws OmnimeterError where it would not
   */
  check(words: readonly string[], env: Variables): Promise<void>;
};

/** A benchmark that did not come to its end. */
class CaseFailedError extends OmnimeterError {
  override readonly code = 'CASE_FAILED';
}

/** What runs while cases are gone through: servers, a benchmark, and the files of both. */
export class CaseSession {
  readonly #resultsDir: string;
  readonly #programs: Programs;
  readonly #io: CommandIo;
  readonly #lock: SweepLock;
  readonly #servers = new Map<string, RunningServer>();
  readonly #logged = new Set<string>();
  #bench: GroupProcess | null = null;
  #starting: GroupProcess | null = null;
  #interrupts = 0;

  /** @throws UsageError while another run works in the folder */
  constructor(resultsDir: string, programs: Programs, io: CommandIo) {
    this.#resultsDir = resultsDir;
    this.#programs = programs;
    this.#io = io;
    try {
      makeFolder(resultsDir);
      this.#lock = SweepLock.take(
        resultsDir,
        (line) => io.stderr(`note: ${line}`),
        'give --results-dir another folder',
      );
    } catch (cause) {
      if (cause instanceof OmnimeterError) throw cause;
      throw new UsageError(
        `--results-dir: cannot write into ${resultsDir}: ${messageOf(cause)}. Name another folder.`,
        { cause },
      );
    }
    io.onInterrupt(() => {
      this.#interrupts += 1;
      this.#bench?.signal('SIGINT');
      this.#starting?.signal('SIGTERM');
    });
  }

  get isInterrupted(): boolean {
    return this.#interrupts > 0;
  }

  /** Runs one case and judges it; what goes wrong is in its outcome. */
  async run(which: BenchCase): Promise<CaseOutcome> {
    const startMs = performance.now();
    const base = { label: which.label, kind: 'case', dir: which.dir } as const;
    const seconds = (): number => (performance.now() - startMs) / 1000;
    try {
      await this.#serveOnly(which.servers);
      const broke = await this.#measure(which);
      const path = join(which.dir, resultFile);
      const result = readResult(path);
      if (result === null) throw new CaseFailedError(`the benchmark wrote no result to ${path}.`);
      const own = broke ? [{ gate: 'bench serve --threshold', passed: false, detail: 'see bench.log' }] : [];
      const gates = [...(await judgeCase(which, path)), ...own];
      const passed = gates.every((gate) => gate.passed);
      const count = (value: unknown): number | null => (typeof value === 'number' ? value : null);
      return {
        ...base,
        status: passed ? 'passed' : 'broken',
        reason: null,
        durationS: seconds(),
        gates,
        completed: count(result.completed),
        failed: count(result.failed),
      };
    } catch (error) {
      // A full disk or a folder in the way costs this case, and not the others.
      const isSystems = error instanceof Error && 'syscall' in error;
      if (!(error instanceof OmnimeterError) && !isSystems) throw error;
      const reason = this.isInterrupted ? 'interrupted' : messageOf(error);
      const none = { gates: [], completed: null, failed: null };
      return { ...base, status: 'failed', reason, durationS: seconds(), ...none };
    }
  }

  /** Stops what the next case does not need, and starts what it lacks. */
  async #serveOnly(wanted: readonly CaseServer[]): Promise<void> {
    for (const [name, running] of this.#servers) {
      if (wanted.some((server) => server.name === name) && running.isRunning()) continue;
      await this.#stop(name, running);
    }
    for (const server of wanted) {
      if (this.isInterrupted) throw new CaseFailedError('interrupted');
      if (!this.#servers.has(server.name)) await this.#start(server);
    }
  }

  async #start(server: CaseServer): Promise<void> {
    const path = join(this.#resultsDir, serverLogFile(server.name));
    this.#io.stdout(`[server ${server.name}] ${joinShellWords(server.words)}`);
    // A server that is started again in the same run goes on in its log.
    const log = openLog(path, this.#logged.has(server.name) ? 'a' : 'w');
    this.#logged.add(server.name);
    let pid = -1;
    const running = await startCaseServer(server, this.#programs.server(server.words), {
      log,
      onStart: (group) => {
        this.#starting = group;
        pid = group.pid;
        this.#lock.add(pid);
      },
    }).finally(() => {
      this.#starting = null;
    });
    this.#servers.set(server.name, {
      ...running,
      stop: async () => {
        await running.stop();
        this.#lock.remove(pid);
      },
    });
  }

  async #stop(name: string, running: RunningServer): Promise<void> {
    this.#servers.delete(name);
    await running.stop();
    this.#io.stdout(`[server ${name}] stopped`);
  }

  /** @returns whether a condition of the benchmark itself broke */
  async #measure(which: BenchCase): Promise<boolean> {
    const words = benchWords(which);
    this.#io.stdout(`[case ${which.label}] omnimeter bench serve ${joinShellWords(withoutSecrets(words))}`);
    makeFolder(which.dir);
    // Results of an earlier run must not be taken for this one's.
    for (const file of [resultFile, 'comparison.json', 'comparison.md']) removeFile(join(which.dir, file));
    if (existsSync(join(runDir(which), 'run.json'))) rmSync(runDir(which), { recursive: true });
    const log = openLog(join(which.dir, 'bench.log'), 'w');
    try {
      const command = this.#programs.bench(words);
      const group = startGroup(startWords(command, command.words), {
        env: { ...process.env, ...which.env },
        show: false,
        tied: false,
        onOutput: (text) => log.write(text),
      });
      this.#lock.add(group.pid);
      this.#bench = group;
      const code = await this.#ended(group, which.timeoutS);
      this.#lock.remove(group.pid);
      if (code === 0 || code === brokenThreshold) return code === brokenThreshold;
      const tail = group.lastLines().slice(-15);
      throw new CaseFailedError(
        [`bench serve ended with exit code ${code}`, `Log: ${log.path}`, ...tail].join('\n'),
      );
    } finally {
      this.#bench = null;
      log.close();
    }
  }

  async #ended(group: GroupProcess, timeoutS: number | null): Promise<number> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      if (timeoutS !== null) timer = setTimeout(() => resolve(null), timeoutS * 1000);
    });
    const ended = await Promise.race([group.ended, late]);
    clearTimeout(timer);
    if (ended === null) {
      await group.stop();
      throw new CaseFailedError(`bench serve ran over ${timeoutS} s (timeout_s) and was ended.`);
    }
    if (ended.error !== null) throw new CaseFailedError(`bench serve did not start: ${ended.error}`);
    return ended.code;
  }

  /** Stops all servers and gives the folder free. */
  async close(): Promise<void> {
    for (const [name, running] of this.#servers) await this.#stop(name, running);
    this.#lock.release();
  }
}

function runDir({ dir }: BenchCase): string {
  return join(dir, 'run');
}

/** What follows `bench serve`: the case's own words, and where its result goes. */
export function benchWords(which: BenchCase): string[] {
  const { words, dir } = which;
  const own = words.some((word) => /^--run[-_]dir(=|$)/.test(word)) ? [] : ['--run-dir', runDir(which)];
  return [...words, ...own, '--save-result', '--result-dir', dir, '--result-filename', resultFile];
}
