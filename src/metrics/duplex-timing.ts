import type { RequestRecord } from '../records/request-record.ts';

/** Who timed the spoken responses of a run's full-duplex sessions. */
export type DuplexTimingSources = {
  /** Spoken responses for which the server said when it began or what it took. */
  readonly byServer: number;
  /** Those that only the client timed. */
  readonly byClient: number;
  /** Sessions with text and without the complete engine timing that TPOT and ITL take. */
  readonly untimedSessions: number;
};

/** @returns `null` where the run had no full-duplex sessions */
export function duplexTimingSources(
  succeeded: readonly RequestRecord[],
  isTimed: (record: RequestRecord) => boolean,
): DuplexTimingSources | null {
  let sessions = 0;
  const counts = { byServer: 0, byClient: 0, untimedSessions: 0 };
  for (const record of succeeded) {
    if (record.duplex === null) continue;
    sessions += 1;
    for (const { timings } of record.duplex.requestRows) {
      if (timings?.source === 'server_request_start_and_client_receive') counts.byServer += 1;
      else if (timings) counts.byClient += 1;
    }
    const { outputTokens, text } = record;
    const hasGaps = outputTokens === null || outputTokens === 0 ? text !== '' : outputTokens > 1;
    if (hasGaps && !isTimed(record)) counts.untimedSessions += 1;
  }
  return sessions === 0 ? null : counts;
}
