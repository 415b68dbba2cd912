import {
  closeSync,
  createReadStream,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { InputFileError, messageOf } from '../foundation/errors.ts';
import { makeFolder } from '../foundation/make-folder.ts';
import { decodeRecord, encodeRecord } from './record-json.ts';
import type { RequestRecord } from './request-record.ts';
import type { RunFacts } from './run-facts.ts';
import { decodeRunFacts, encodeRunFacts } from './run-facts-json.ts';

const runFile = 'run.json';
const recordsFile = 'records.jsonl';

/** The files that hold a run. */
export function runFiles(dir: string): string[] {
  return [join(dir, runFile), join(dir, recordsFile)];
}

/**
 * A run's folder on disk. Every finished record is handed to the operating system before `append` returns, so that
 * a killed process loses none.
 */
export type Journal = {
  readonly dir: string;
  append(record: RequestRecord): void;
  /** Writes `run.json` anew, atomically: first with the plan, at the end with what the run itself observed. */
  describe(facts: RunFacts): void;
  close(): void;
};

/**
 * Starts a journal in `dir`, which is created; an earlier run in it is an error, since mixing two would falsify both.
 * @param onProblem called once when a record can't be written (disk full); the run goes on
 * @throws InputFileError when the folder can't be used
 */
export function openJournal(dir: string, onProblem: (message: string) => void): Journal {
  let file: number;
  try {
    makeFolder(dir);
    file = openSync(join(dir, recordsFile), 'ax');
  } catch (cause) {
    const exists = cause instanceof Error && 'code' in cause && cause.code === 'EEXIST';
    throw new InputFileError(
      exists
        ? `${dir} already holds a run (${recordsFile} exists). Give --run-dir a new folder, or remove the old run.`
        : `cannot write the run folder ${dir}: ${messageOf(cause)}. Give --run-dir a folder that can be written.`,
      { cause },
    );
  }
  let broken = false;
  const guarded = (write: () => void): void => {
    try {
      write();
    } catch (cause) {
      if (!broken) onProblem(`the run folder ${dir} can no longer be written: ${messageOf(cause)}`);
      broken = true;
    }
  };
  return {
    dir,
    append: (record) => {
      if (!broken) guarded(() => writeFully(file, Buffer.from(`${encodeRecord(record)}\n`)));
    },
    describe: (facts) =>
      guarded(() => {
        const path = join(dir, runFile);
        writeFileSync(`${path}.part`, encodeRunFacts(facts));
        renameSync(`${path}.part`, path);
      }),
    close: () => closeSync(file),
  };
}

/** `write(2)` may take fewer bytes than given. */
function writeFully(file: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
}

export type StoredRun = {
  readonly facts: RunFacts;
  readonly records: readonly RequestRecord[];
  /** What could not be read, for the user. */
  readonly notes: readonly string[];
  /** What falsifies the figures, for the user: records that are missing, or there twice. */
  readonly warnings: readonly string[];
};

/**
 * Reads a run folder back. A torn last line (the process was killed while writing it) is left out and said.
 * @throws InputFileError when the folder holds no run
 */
export async function readRun(dir: string): Promise<StoredRun> {
  const facts = decodeRunFacts(readRunFile(join(dir, runFile), dir), join(dir, runFile));
  const records: RequestRecord[] = [];
  const notes: string[] = [];
  const seen = new Set<number>();
  let repeated = 0;
  const path = join(dir, recordsFile);
  let number = 0;
  for await (const { bytes, complete } of readLines(path)) {
    number += 1;
    if (isBlank(bytes)) continue;
    try {
      const record = decodeRecord(bytes, `${path}:${number}`);
      const isRepeated = record.role === 'measured' && seen.has(record.index);
      if (record.role === 'measured') seen.add(record.index);
      if (isRepeated) repeated += 1;
      else records.push(record);
    } catch (error) {
      if (!(error instanceof InputFileError)) throw error;
      notes.push(
        complete
          ? error.message
          : `${path}:${number}: the last line is torn (the run was cut off while writing it) and was left out.`,
      );
    }
  }
  const warnings: string[] = [];
  if (repeated > 0)
    warnings.push(
      `${path}: ${repeated} of ${seen.size + repeated} records are of requests that had one already (was a journal appended to another?); the first of each counts.`,
    );
  const missing = missingOf(facts, seen);
  if (missing > 0)
    warnings.push(
      `${path}: ${missing} of ${missing + seen.size} records are missing; the figures are those of the ${seen.size} that are left.`,
    );
  return { facts, records, notes, warnings };
}

/** How many records a run that came to its end has lost. Older runs do not say how many they had. */
function missingOf(facts: RunFacts, seen: ReadonlySet<number>): number {
  if (facts.measuredCount !== null) return Math.max(0, facts.measuredCount - seen.size);
  // A run that was stopped left requests out.
  if (facts.endMs === null || facts.interrupted) return 0;
  if (seen.size === 0) return facts.numPrompts;
  let last = 0;
  for (const index of seen) last = Math.max(last, index);
  return last + 1 - seen.size;
}

function readRunFile(path: string, dir: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new InputFileError(
      `${dir} is not a run folder: ${messageOf(cause)}. Give the folder that --run-dir named.`,
      { cause },
    );
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.length < 100 && bytes.toString('utf8').trim() === '';
}

/** Lines of a file that may be larger than a string can be; the last may lack its newline. */
async function* readLines(path: string): AsyncGenerator<{ bytes: Buffer; complete: boolean }> {
  let held: Buffer[] = [];
  const stream: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: 1 << 20 });
  try {
    for await (const chunk of stream) {
      let from = 0;
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
        const rest = chunk.subarray(from, end);
        yield { bytes: held.length === 0 ? rest : Buffer.concat([...held, rest]), complete: true };
        held = [];
        from = end + 1;
      }
      if (from < chunk.length) held.push(chunk.subarray(from));
    }
  } catch (cause) {
    throw new InputFileError(`cannot read ${path}: ${messageOf(cause)}`, { cause });
  }
  if (held.length > 0) yield { bytes: Buffer.concat(held), complete: false };
}
