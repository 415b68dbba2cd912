import type { DuplexArtifacts } from '../../records/duplex-session.ts';
import type { RequestRecord } from '../../records/request-record.ts';
import type { Sample } from '../../workloads/sample.ts';

/** What a dataset made of a finished run. */
export type CompanionResults = {
  /** For the result file, by key. */
  readonly results: Readonly<Record<string, unknown>>;
  /** Printed below the report. */
  readonly lines: readonly string[];
};

/** What a dataset does beside a run: it keeps files of its own, or has an earlier run to go on with. */
export type RunCompanion = {
  /** Whether an earlier run of the same command has done a case. */
  isFinished(caseKey: string): boolean;
  /** All samples are chosen, and nothing is sent yet. */
  begin(samples: readonly Sample[]): Promise<void>;
  /**
   * The measured part begins.
   * @param startMs on the run's clock
   * @returns records of requests that an earlier run has done, on this run's clock, and how long they took, ms
   */
  start(startMs: number): { readonly records: readonly RequestRecord[]; readonly lengthMs: number };
  /** A measured request has ended. Returns at once. */
  take(record: RequestRecord, artifacts: DuplexArtifacts | null): void;
  /**
   * The measured part is over, and everything has been taken.
   * @param cutOff the user stopped it
   * @param unlessLeft does what may take long and is no part of the run; `null` = the user did not wait for it
   */
  finish(
    cutOff: boolean,
    unlessLeft: <T>(work: () => Promise<T>) => Promise<T | null>,
  ): Promise<CompanionResults>;
  /** However the run ended. */
  close(): void;
};
