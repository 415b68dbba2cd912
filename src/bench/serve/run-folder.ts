import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Journal, openJournal } from '../../records/journal.ts';
import type { RequestRecord } from '../../records/request-record.ts';
import type { RunFacts } from '../../records/run-facts.ts';
import type { BenchServeOptions, CommandIo } from './options.ts';

/**
 * Where a run's records go as they finish. Without `--run-dir` it is a temporary folder that is removed when the run
 * ended well, and named when it did not.
 */
export class RunFolder {
  readonly #journal: Journal | null;
  readonly #temporary: boolean;
  readonly #io: CommandIo;
  #settled = false;
  #records = 0;

  private constructor(journal: Journal | null, temporary: boolean, io: CommandIo) {
    this.#journal = journal;
    this.#temporary = temporary;
    this.#io = io;
  }

  /** @throws InputFileError when the folder can't be used */
  static open(options: BenchServeOptions, facts: RunFacts, io: CommandIo): RunFolder {
    if (!options.journal) return new RunFolder(null, false, io);
    const dir = options.runDir ?? mkdtempSync(join(tmpdir(), 'omnimeter-run-'));
    const journal = openJournal(dir, (message) => io.stderr(`warning: ${message}`));
    journal.describe(facts);
    return new RunFolder(journal, options.runDir === null, io);
  }

  append(record: RequestRecord): void {
    this.#records += 1;
    this.#journal?.append(record);
  }

  describe(facts: RunFacts): void {
    this.#journal?.describe(facts);
  }

  /** The run ended with this exit code. */
  end(exitCode: number): void {
    if (this.#settled) return;
    this.#settled = true;
    if (!this.#journal) return;
    if (this.#temporary && (exitCode === 0 || this.#records === 0)) this.#remove();
    else if (exitCode !== 0) this.#name();
  }

  /** The run never began to be measured. */
  abandon(exitCode: number): { exitCode: number } {
    this.end(exitCode);
    return { exitCode };
  }

  /** Something went wrong outside the requests; what was measured stays. */
  keep(): void {
    if (this.#settled) return;
    this.#settled = true;
    if (this.#temporary && this.#records === 0) this.#remove();
    else this.#name();
  }

  close(): void {
    this.#journal?.close();
  }

  #remove(): void {
    if (this.#journal) rmSync(this.#journal.dir, { recursive: true, force: true });
  }

  #name(): void {
    if (this.#journal)
      this.#io.stderr(
        `The finished requests are kept in ${this.#journal.dir}; print them with: omnimeter report ${this.#journal.dir}`,
      );
  }
}
