import type { Attempt, RequestRecord } from '../records/request-record.ts';
import {
  audioSpanOf,
  imageSpanOf,
  type OutputSpan,
  type StageTiming,
  stageTimingsOf,
  textSpanOf,
} from './stage-timing.ts';

/** Who was at work in a span. */
export type SpanKind = 'client' | 'network' | 'stage' | 'text' | 'audio' | 'image';

/** One bar of a request's waterfall, ms on the run's clock. */
export type RequestSpan = {
  readonly kind: SpanKind;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  /** When the span's first output came; `null` = it has none, or it is not known. */
  readonly firstMs: number | null;
  /** What the reader should know of the bar; `null` = nothing. */
  readonly note: string | null;
};

/** More exchanges than this are one bar: a polled job has hundreds. */
const mostExchanges = 12;

/** What happened to one request, bar by bar, in the order in which the bars begin in a usual reply. */
export function requestSpansOf(record: RequestRecord): RequestSpan[] {
  const [first] = record.attempts;
  const last = record.attempts.at(-1);
  if (!first || !last) return [];
  const spans: RequestSpan[] = [];
  const dueMs = record.intendedMs ?? first.sendMs;
  if (first.sendMs > dueMs) spans.push(span('client', 'client queue', dueMs, first.sendMs));
  for (const attempt of record.attempts.slice(0, -1))
    spans.push({ ...span('client', 'failed attempt', attempt.sendMs, attempt.endMs), note: attempt.error });
  return [...spans, ...exchangeSpans(last), ...stageSpans(record, last), ...outputSpans(record)];
}

function span(kind: SpanKind, name: string, startMs: number, endMs: number): RequestSpan {
  return { kind, name, startMs, endMs: Math.max(startMs, endMs), firstMs: null, note: null };
}

function exchangeSpans({ exchanges, endMs }: Attempt): RequestSpan[] {
  const [first] = exchanges;
  if (!first) return [];
  const spans: RequestSpan[] = [];
  const connectedMs = first.connectedMs ?? first.sendMs;
  if (connectedMs > first.sendMs) spans.push(span('network', 'connection', first.sendMs, connectedMs));
  if (exchanges.length === 1) {
    const bodyMs = first.endMs ?? endMs;
    return [...spans, { ...span('network', 'HTTP exchange', connectedMs, bodyMs), firstMs: first.headersMs }];
  }
  for (const exchange of exchanges.slice(0, mostExchanges))
    spans.push(span('network', exchange.method, exchange.sendMs, exchange.endMs ?? endMs));
  const rest = exchanges.slice(mostExchanges);
  if (rest[0])
    spans.push(span('network', `${rest.length} more exchanges`, rest[0].sendMs, rest.at(-1)?.endMs ?? endMs));
  return spans;
}

/**
 * Stages say how long they took and when they first gave something, by the server's clock. The server's accepting the
 * request is laid at the moment the connection was ready. A stage whose output the client sees ends with that output.
 */
function stageSpans(record: RequestRecord, attempt: Attempt): RequestSpan[] {
  const acceptedMs = attempt.exchanges[0]?.connectedMs ?? attempt.sendMs;
  return stageTimingsOf(record).flatMap((timing) => {
    const firstMs = timing.firstOutputMs === null ? null : acceptedMs + timing.firstOutputMs;
    const endMs = stageEndMs(record, timing, { firstMs, acceptedMs });
    if (endMs === null) return [];
    const startMs =
      timing.genMs === null ? (firstMs ?? acceptedMs) : Math.max(acceptedMs, endMs - timing.genMs);
    return [{ ...span('stage', timing.name, startMs, endMs), firstMs, note: 'as the stage reported it' }];
  });
}

function stageEndMs(
  record: RequestRecord,
  timing: StageTiming,
  at: { readonly firstMs: number | null; readonly acceptedMs: number },
): number | null {
  const seen = outputSpanOf(record, timing.output);
  if (seen) return seen.lastMs;
  if (at.firstMs !== null && timing.streamMs !== null) return at.firstMs + timing.streamMs;
  return timing.genMs === null ? at.firstMs : at.acceptedMs + timing.genMs;
}

function outputSpanOf({ events }: RequestRecord, output: StageTiming['output']): OutputSpan | null {
  if (output === 'text') return textSpanOf(events);
  return output === 'audio' ? audioSpanOf(events) : null;
}

function outputSpans({ events }: RequestRecord): RequestSpan[] {
  const spans: RequestSpan[] = [];
  const kinds = [
    ['text', 'text received', textSpanOf(events)],
    ['audio', 'audio received', audioSpanOf(events)],
    ['image', 'images received', imageSpanOf(events)],
  ] as const;
  for (const [kind, name, seen] of kinds)
    if (seen)
      spans.push({
        ...span(kind, name, seen.firstMs, seen.lastMs),
        firstMs: seen.firstMs,
        note: `${seen.messages} ${seen.messages === 1 ? 'message' : 'messages'}`,
      });
  return spans;
}
