import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, UsageError } from '../../foundation/errors.ts';
import { makeFolder } from '../../foundation/make-folder.ts';
import type { DuplexArtifacts } from '../../records/duplex-session.ts';
import type { RequestRecord } from '../../records/request-record.ts';
import { caseKey, isSubset, type OmniInteractCase } from '../../workloads/omniinteract/omniinteract-case.ts';
import type { Sample } from '../../workloads/sample.ts';
import type { CommandIo, OmniInteractRunOptions } from '../serve/options.ts';
import type { CompanionResults, RunCompanion } from '../serve/run-companion.ts';
import {
  countCases,
  exclusionReasons,
  type FinishedCase,
  removeBatchFiles,
  writeBatchFiles,
  writeSampledCases,
} from './batch-files.ts';
import { caseFolder, publishCase, removeCase } from './case-files.ts';
import { type CaseResult, caseResultOf } from './case-result.ts';
import { type Evaluation, evaluateRun, leftEvaluation, preparedEvaluation } from './evaluate-run.ts';
import { FolderLock } from './folder-lock.ts';
import { type KeptRecord, keptRecordFile, type RunPart, rebased } from './kept-record.ts';
import {
  commandKey,
  type MeasuredSettings,
  markUnderWay,
  type UnfinishedRun,
  unfinishedRun,
  unmarkUnderWay,
} from './unfinished-run.ts';

/** The artifacts of one run of OmniInteract. Cases are written as they end, one after the other, off the load threads. */
export class OmniInteractRun implements RunCompanion {
  readonly #root: string;
  readonly #evaluation: Evaluation | null;
  readonly #command: string;
  /** Of the run that this one goes on with. */
  readonly #parts: readonly string[];
  readonly #kept: ReadonlyMap<string, KeptRecord>;
  readonly #lock: FolderLock;
  readonly #io: CommandIo;
  /** In the order in which they were drawn. */
  #cases: readonly OmniInteractCase[] = [];
  #part: RunPart = { id: randomUUID(), startedAtEpochMs: 0, startMs: 0 };
  /** By place among the cases. */
  readonly #results = new Map<number, CaseResult>();
  readonly #problems: string[] = [];
  #writing: Promise<void> = Promise.resolve();

  private constructor(
    { outputDir, evaluation }: { outputDir: string; evaluation: Evaluation | null },
    tools: { command: string; unfinished: UnfinishedRun; lock: FolderLock; io: CommandIo },
  ) {
    this.#root = outputDir;
    this.#evaluation = evaluation;
    this.#command = tools.command;
    this.#kept = tools.unfinished.kept;
    this.#parts = tools.unfinished.parts;
    this.#lock = tools.lock;
    this.#io = tools.io;
  }

  /**
   * Takes the folder, and sees what is in it.
   * @returns `null` where the user left while another run had the folder
   * @throws UsageError where it can't be written, InputFileError for prompts of the judge that can't be read
   */
  static async open(
    run: OmniInteractRunOptions,
    settings: MeasuredSettings,
    tools: { readonly io: CommandIo; readonly stopped: () => boolean },
  ): Promise<OmniInteractRun | null> {
    const { io, stopped } = tools;
    const note = (line: string): void => io.stderr(`note: omniinteract: ${line}`);
    const evaluation = await preparedEvaluation(run.evaluation);
    let lock: FolderLock | null;
    try {
      makeFolder(run.outputDir);
      lock = await FolderLock.take(run.outputDir, { stopped, note });
    } catch (cause) {
      throw unwritable(run.outputDir, cause);
    }
    if (lock === null) return null;
    const command = commandKey(settings);
    let unfinished: UnfinishedRun;
    try {
      unfinished = unfinishedRun(run.outputDir, command);
    } catch (cause) {
      lock.release();
      // Such as a file in place of a subset's folder.
      if (!(cause instanceof Error && 'syscall' in cause)) throw cause;
      throw unwritable(run.outputDir, cause);
    }
    for (const line of unfinished.notes) note(line);
    return new OmniInteractRun({ outputDir: run.outputDir, evaluation }, { command, unfinished, lock, io });
  }

  isFinished(key: string): boolean {
    return this.#kept.has(key);
  }

  async begin(samples: readonly Sample[]): Promise<void> {
    this.#cases = samples.map(caseOf);
    try {
      await unmarkUnderWay(this.#root);
      await removeBatchFiles(this.#root);
      for (const one of this.#cases)
        if (!this.#kept.has(caseKey(one))) await removeCase(caseFolder(this.#root, one));
      await writeSampledCases(this.#root, this.#cases);
      await markUnderWay(this.#root, { command: this.#command, parts: [...this.#parts, this.#part.id] });
    } catch (cause) {
      throw unwritable(this.#root, cause);
    }
  }

  start(startMs: number): { readonly records: readonly RequestRecord[]; readonly lengthMs: number } {
    this.#part = { ...this.#part, startedAtEpochMs: Date.now(), startMs };
    const kept = this.#cases.flatMap((one, index) => {
      const found = this.#kept.get(caseKey(one));
      if (found === undefined) return [];
      this.#results.set(index, caseResultOf(one, found.record, caseFolder(this.#root, one)));
      return [{ ...found, record: { ...found.record, index } }];
    });
    return rebased(kept, startMs);
  }

  take(record: RequestRecord, artifacts: DuplexArtifacts | null): void {
    const one = this.#cases[record.index];
    if (one === undefined) throw new Error(`request ${record.index} is no case of the run`);
    // One at a time: sound of minutes is megabytes, and nobody waits for it.
    this.#writing = this.#writing.then(async () => {
      const { result, problem } = await publishCase(this.#root, one, { record, artifacts, part: this.#part });
      this.#results.set(record.index, result);
      if (problem !== null) this.#problem(problem);
    });
  }

  async finish(
    cutOff: boolean,
    unlessLeft: <T>(work: () => Promise<T>) => Promise<T | null> = (work) => work(),
  ): Promise<CompanionResults> {
    await this.#writing;
    const finished = this.#cases.flatMap((one, index): FinishedCase[] => {
      const result = this.#results.get(index);
      return result === undefined ? [] : [{ one, result }];
    });
    const published = !cutOff && (await this.#writeBatch(finished));
    this.#tellExcluded(finished);
    const evaluation = cutOff ? null : this.#evaluation;
    const judged =
      evaluation === null
        ? null
        : ((await unlessLeft(() => evaluateRun(this.#root, finished, evaluation, this.#io))) ??
          leftEvaluation(this.#root, evaluation, this.#io));
    const complete = published && this.#problems.length === 0;
    return {
      results: {
        omniinteract: {
          ...countCases(finished),
          artifacts_complete: complete,
          ...(this.#problems.length > 0 ? { artifact_errors: this.#problems } : {}),
          ...(judged === null ? {} : { accuracy: judged.accuracy }),
        },
      },
      lines: judged?.lines ?? [],
    };
  }

  close(): void {
    this.#lock.release();
  }

  /** @returns whether the manifests are there */
  async #writeBatch(finished: readonly FinishedCase[]): Promise<boolean> {
    try {
      await writeBatchFiles(this.#root, finished);
      await unmarkUnderWay(this.#root);
      await this.#forgetRecords();
      return true;
    } catch (error) {
      this.#problem(`Batch artifact publication failed: ${messageOf(error)}`);
      return false;
    }
  }

  /** They served to go on; one that stays does no harm. */
  async #forgetRecords(): Promise<void> {
    for (const one of this.#cases)
      await rm(join(caseFolder(this.#root, one), keptRecordFile), { force: true }).catch(() => undefined);
  }

  #tellExcluded(finished: readonly FinishedCase[]): void {
    const { successful_but_ineligible: excluded } = countCases(finished);
    if (excluded > 0)
      this.#io.stderr(
        `warning: ${excluded} successful OmniInteract cases are excluded from the official manifest: ${exclusionReasons(finished).join(', ')}`,
      );
  }

  #problem(problem: string): void {
    this.#problems.push(problem);
    this.#io.stderr(`warning: ${problem}`);
  }
}

function unwritable(folder: string, cause: unknown): UsageError {
  return new UsageError(
    `cannot write artifacts into ${folder}: ${messageOf(cause)}. Give --omniinteract-output-dir a folder that can be written.`,
    { cause },
  );
}

/** The case of a sample, from the plain facts that travel with it. */
function caseOf({ live }: Sample): OmniInteractCase {
  const { subset, videoRel, videoPath, annotationPath, sceneType } = live?.caseFacts ?? {};
  const texts = [subset, videoRel, videoPath, annotationPath, sceneType];
  const [name = '', rel = '', video = '', annotation = '', scene = ''] = texts.map((text) =>
    typeof text === 'string' ? text : '',
  );
  if (!isSubset(name) || rel === '') throw new Error('a sample of omniinteract carries no case');
  return { subset: name, videoRel: rel, videoPath: video, annotationPath: annotation, sceneType: scene };
}
