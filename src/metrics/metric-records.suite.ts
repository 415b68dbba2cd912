import { type EventRow, eventKinds, eventLogOf } from '../records/event-log.ts';
import { exampleFacts, exampleRecord } from '../records/examples.suite.ts';
import type { Attempt, RequestRecord } from '../records/request-record.ts';
import type { RunFacts } from '../records/run-facts.ts';

// Records as tests of metrics and reports want them: a request is said by its times, in ms.

export type RequestSketch = {
  readonly startMs?: number;
  /** End of the body; the last event where it is not given. */
  readonly endMs?: number;
  readonly events?: readonly Partial<EventRow>[];
};

/** A successful request that was sent at `startMs` and saw the given events. */
export function requestOf(sketch: RequestSketch, changes: Partial<RequestRecord> = {}): RequestRecord {
  const startMs = sketch.startMs ?? 0;
  const rows = sketch.events ?? [];
  const endMs = sketch.endMs ?? Math.max(startMs, ...rows.map((row) => row.timeMs ?? 0));
  return exampleRecord({
    intendedMs: startMs,
    admittedMs: startMs,
    attempts: [attemptOf(startMs, endMs)],
    events: eventLogOf(rows),
    text: rows.some((row) => (row.kind ?? eventKinds.text) === eventKinds.text) ? 'text' : '',
    outputTokens: null,
    outputTokensSource: null,
    ...changes,
  });
}

/** One try with one exchange. */
export function attemptOf(sendMs: number, endMs: number): Attempt {
  const exchange = {
    method: 'POST',
    url: 'http://127.0.0.1:8000/v1/chat/completions',
    sendMs,
    connectedMs: sendMs,
    connectionReused: true,
    headersMs: endMs,
    endMs,
    status: 200,
    requestBytes: 1,
    responseBytes: 1,
  };
  return { sendMs, endMs, error: null, exchanges: [exchange] };
}

/** Chunks of text, one token each unless said otherwise. */
export function textChunks(timesMs: readonly number[], tokens: number | null = 1): Partial<EventRow>[] {
  return timesMs.map((timeMs) => ({ timeMs, kind: eventKinds.text, tokens, bytes: 4 }));
}

/** Audio chunks of the given samples per channel. */
export function audioChunks(
  chunks: readonly (readonly [timeMs: number, frames: number])[],
): Partial<EventRow>[] {
  return chunks.map(([timeMs, frames]) => ({ timeMs, kind: eventKinds.audio, bytes: frames * 2, frames }));
}

/** WAV audio of 24 kHz mono. */
export function wavFacts(frames: number): NonNullable<RequestRecord['audio']> {
  return {
    format: 'wav',
    sampleRateHz: 24_000,
    channels: 1,
    sampleBytes: 2,
    frames,
    durationS: frames / 24_000,
    bytes: frames * 2,
    droppedChunks: 0,
    note: null,
  };
}

/** A run of an endpoint whose ITL is the gap between chunks. */
export function chunkGapFacts(changes: Partial<RunFacts> = {}): RunFacts {
  return exampleFacts({
    endpoint: { name: 'openai-chat', itl: 'chunk_gap', latencyEnd: 'last_choice', output: 'text' },
    startMs: 0,
    ...changes,
  });
}

/** A run of `openai-chat-omni`. */
export function omniFacts(changes: Partial<RunFacts> = {}): RunFacts {
  return exampleFacts({ startMs: 0, ...changes });
}
