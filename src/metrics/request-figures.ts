import type { DuplexSessionFacts } from '../records/duplex-session.ts';
import type { RequestRecord } from '../records/request-record.ts';
import type { RunFacts } from '../records/run-facts.ts';
import { type AudioTiming, audioTimingOf } from './audio-timing.ts';
import { latencyEndMsOf, startMsOf } from './latency.ts';
import { outputTokensOf } from './output-tokens.ts';
import { figureList, positiveFigure } from './snapshot-number.ts';
import { stageZeroTiming, timingOfEntries } from './stage-zero-timing.ts';
import { tokenTimingOf } from './token-timing.ts';

/** What metrics are made from: one successful request's record and what follows from it. Times in ms. */
export type RequestFigures = {
  readonly record: RequestRecord;
  readonly run: RunFacts;
  /** Origin of latencies: the last attempt's send. */
  readonly startMs: number;
  readonly endMs: number;
  readonly outputTokens: number;
  /** First token event on the run's clock; `null` = no streamed token came, or many responses had one each. */
  readonly firstTokenMs: number | null;
  /** From the first to the last token; `null` = not measured. */
  readonly tokenSpanMs: number | null;
  /** Inter-token latencies. */
  readonly gapsMs: Float64Array;
  /** `null` = no streamed audio, or that of many responses. */
  readonly audio: AudioTiming | null;
};

/** @returns `null` where nothing was sent */
export function requestFiguresOf(record: RequestRecord, run: RunFacts): RequestFigures | null {
  const startMs = startMsOf(record);
  const endMs = latencyEndMsOf(record, run.endpoint.latencyEnd);
  if (startMs === null || endMs === null) return null;
  return {
    record,
    run,
    startMs,
    endMs,
    outputTokens: outputTokensOf(record, run),
    ...tokenFigures(record, run),
    // Responses of a session play one after the other: its audio is no stream that starts with the first chunk.
    audio: record.duplex === null ? audioTimingOf(record.events, record.audio) : null,
  };
}

/** What a session of many responses has instead: its text is timed by the engine alone, response by response. */
function sessionFigures(session: DuplexSessionFacts, outputTokens: number): TokenFigures {
  const entries = session.requestRows.map(({ stageZero }) => ({
    tokens: stageZero?.outputTokenCount ?? Number.NaN,
    gapsMs: figureList(stageZero?.itlsMs),
    tpotMs: positiveFigure(stageZero?.tpotMs),
  }));
  const stage = timingOfEntries(entries, outputTokens);
  return {
    firstTokenMs: null,
    tokenSpanMs: stage?.spanMs ?? null,
    gapsMs: stage?.gapsMs ?? new Float64Array(0),
  };
}

type TokenFigures = Pick<RequestFigures, 'firstTokenMs' | 'tokenSpanMs' | 'gapsMs'>;

function tokenFigures(record: RequestRecord, run: RunFacts): TokenFigures {
  if (record.duplex !== null) return sessionFigures(record.duplex, record.outputTokens ?? 0);
  const timing = tokenTimingOf(record.events, run.endpoint.itl);
  const firstTokenMs = timing?.firstMs ?? null;
  const seen = timing !== null && timing.lastMs > timing.firstMs;
  if (seen) return { firstTokenMs, tokenSpanMs: timing.lastMs - timing.firstMs, gapsMs: timing.gapsMs };
  // All tokens came in one read: its gaps of 0 are the network's, not the model's.
  const stage = stageZeroTiming(record.responses, record.outputTokens ?? 0);
  return { firstTokenMs, tokenSpanMs: stage?.spanMs ?? null, gapsMs: stage?.gapsMs ?? new Float64Array(0) };
}
