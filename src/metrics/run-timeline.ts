import { eventKinds } from '../records/event-log.ts';
import type { RequestRecord } from '../records/request-record.ts';
import type { RunFacts } from '../records/run-facts.ts';
import { outputTokensOf } from './output-tokens.ts';
import { visitShared } from './token-arrivals.ts';

/** A run in equal steps of time; every column has one entry a step. Failed requests are in all but tokens and audio. */
export type RunTimeline = {
  /** Beginning of the first step, ms on the run's clock. */
  readonly startMs: number;
  readonly stepMs: number;
  /** Requests that became due, were sent, ended well, failed or were aborted in the step. */
  readonly due: Float64Array;
  readonly sent: Float64Array;
  readonly succeeded: Float64Array;
  readonly failed: Float64Array;
  /** The most requests under way at one moment of the step. */
  readonly inFlight: Float64Array;
  readonly outputTokens: Float64Array;
  /** Audio that arrived in the step, s of playing time. */
  readonly audioS: Float64Array;
};

const mostSteps = 150;
const leastSteps = 12;
/** On average at least this many requests a step, so that rates are more than spikes. */
const requestsPerStep = 3;
const leastStepMs = 10;

/**
 * @param measured measured records in any order
 * @returns `null` where nothing was sent
 */
export function runTimelineOf(measured: readonly RequestRecord[], run: RunFacts): RunTimeline | null {
  const span = spanOf(measured, run);
  if (!span) return null;
  const lengthMs = Math.max(span.endMs - span.startMs, 1);
  const stepMs = stepOf(lengthMs, measured.length);
  const columns = new Columns(span.startMs, stepMs, Math.floor(lengthMs / stepMs) + 1);
  for (const record of measured) columns.add(record, run);
  return columns.finish();
}

/** A round step: 1, 2 or 5 times a power of ten. */
function stepOf(lengthMs: number, requests: number): number {
  const wanted = Math.max(
    lengthMs / mostSteps,
    Math.min((lengthMs * requestsPerStep) / Math.max(requests, 1), lengthMs / leastSteps),
    leastStepMs,
  );
  const power = 10 ** Math.floor(Math.log10(wanted));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= wanted * (1 - 1e-9)) ?? 10);
}

function spanOf(
  measured: readonly RequestRecord[],
  run: RunFacts,
): { readonly startMs: number; readonly endMs: number } | null {
  let startMs = run.startMs ?? Number.POSITIVE_INFINITY;
  let endMs = Number.NEGATIVE_INFINITY;
  for (const { attempts, intendedMs } of measured) {
    const first = attempts[0];
    if (!first) continue;
    startMs = Math.min(startMs, intendedMs ?? first.sendMs, first.sendMs);
    endMs = Math.max(endMs, attempts.at(-1)?.endMs ?? first.endMs);
  }
  return startMs <= endMs ? { startMs, endMs } : null;
}

class Columns {
  readonly #startMs: number;
  readonly #stepMs: number;
  readonly #length: number;
  readonly #due: Float64Array;
  readonly #sent: Float64Array;
  readonly #succeeded: Float64Array;
  readonly #failed: Float64Array;
  readonly #tokens: Float64Array;
  readonly #audioS: Float64Array;
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];

  constructor(startMs: number, stepMs: number, length: number) {
    this.#startMs = startMs;
    this.#stepMs = stepMs;
    this.#length = length;
    const column = (): Float64Array => new Float64Array(length);
    this.#due = column();
    this.#sent = column();
    this.#succeeded = column();
    this.#failed = column();
    this.#tokens = column();
    this.#audioS = column();
  }

  add(record: RequestRecord, run: RunFacts): void {
    const first = record.attempts[0];
    const last = record.attempts.at(-1);
    if (record.intendedMs !== null) this.#count(this.#due, record.intendedMs, 1);
    if (!first || !last) return;
    this.#count(this.#sent, first.sendMs, 1);
    this.#count(record.outcome.ok ? this.#succeeded : this.#failed, last.endMs, 1);
    this.#starts.push(first.sendMs);
    this.#ends.push(last.endMs);
    if (record.outcome.ok) this.#addOutput(record, run);
  }

  finish(): RunTimeline {
    return {
      startMs: this.#startMs,
      stepMs: this.#stepMs,
      due: this.#due,
      sent: this.#sent,
      succeeded: this.#succeeded,
      failed: this.#failed,
      inFlight: this.#inFlight(),
      outputTokens: this.#tokens,
      audioS: this.#audioS,
    };
  }

  #addOutput(record: RequestRecord, run: RunFacts): void {
    const { events, audio } = record;
    visitShared(events, outputTokensOf(record, run), (timeMs, tokens) =>
      this.#count(this.#tokens, timeMs, tokens),
    );
    const rateHz = audio?.sampleRateHz ?? null;
    if (rateHz === null || rateHz <= 0) return;
    for (let i = 0; i < events.kinds.length; i += 1) {
      if (events.kinds[i] !== eventKinds.audio) continue;
      this.#count(this.#audioS, events.timesMs[i] ?? 0, Math.max(events.frames[i] ?? 0, 0) / rateHz);
    }
  }

  #count(column: Float64Array, timeMs: number, amount: number): void {
    const step = this.#stepOf(timeMs);
    column[step] = (column[step] ?? 0) + amount;
  }

  /** What lies outside of the run (an empty log's 0) counts in its first or last step. */
  #stepOf(timeMs: number): number {
    return Math.min(Math.max(Math.floor((timeMs - this.#startMs) / this.#stepMs), 0), this.#length - 1);
  }

  /** A request that ends as another starts has ended, as in the exact peak. */
  #inFlight(): Float64Array {
    const peaks = new Float64Array(this.#length);
    const starts = new Float64Array(this.#starts).sort();
    const ends = new Float64Array(this.#ends).sort();
    let open = 0;
    let start = 0;
    let end = 0;
    for (let step = 0; step < this.#length; step += 1) {
      const untilMs = this.#startMs + (step + 1) * this.#stepMs;
      let peak = open;
      while (start < starts.length && (step === this.#length - 1 || (starts[start] ?? 0) < untilMs)) {
        for (; (ends[end] ?? Number.POSITIVE_INFINITY) <= (starts[start] ?? 0); end += 1) open -= 1;
        open += 1;
        start += 1;
        peak = Math.max(peak, open);
      }
      for (; (ends[end] ?? Number.POSITIVE_INFINITY) < untilMs; end += 1) open -= 1;
      peaks[step] = peak;
    }
    return peaks;
  }
}
