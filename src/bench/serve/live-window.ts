import { percentileOfSorted } from '../../foundation/statistics.ts';
import { firstAudioMs, firstTextMs, stageTimingsOf } from '../../metrics/stage-timing.ts';
import type { RequestRecord } from '../../records/request-record.ts';
import type { LiveLatency } from '../../report/live-view.ts';

/** Latencies and stages of one reply; `null` = not observed. ms */
type Seen = {
  readonly atMs: number;
  readonly ttftMs: number | null;
  readonly ttfpMs: number | null;
  readonly e2elMs: number;
  readonly stages: readonly { readonly id: string; readonly name: string; readonly genMs: number }[];
};

/** More replies than this in a window are represented by the newest of them: the view may not cost the run its CPU. */
const mostReplies = 1024;

/** The replies of the last seconds, as far as a glance needs them. */
export class LiveWindow {
  readonly windowMs: number;
  readonly #replies: Seen[] = [];
  #next = 0;

  constructor(windowMs = 10_000) {
    this.windowMs = windowMs;
  }

  /** @param atMs when the reply was noticed, ms on the clock that the readers use */
  add(record: RequestRecord, atMs: number): void {
    const attempt = record.attempts.at(-1);
    if (!attempt || !record.outcome.ok) return;
    const after = (timeMs: number | null): number | null =>
      timeMs === null ? null : timeMs - attempt.sendMs;
    const seen: Seen = {
      atMs,
      ttftMs: after(firstTextMs(record.events)),
      ttfpMs: after(firstAudioMs(record.events)),
      e2elMs: attempt.endMs - attempt.sendMs,
      stages: stageTimingsOf(record).flatMap(({ id, name, genMs }) =>
        genMs === null ? [] : [{ id, name, genMs }],
      ),
    };
    this.#replies[this.#next % mostReplies] = seen;
    this.#next += 1;
  }

  /** Those that were observed, in the order in which a reply shows them. */
  latencies(nowMs: number): LiveLatency[] {
    const replies = this.#recent(nowMs);
    return [
      ...latency(
        'TTFT',
        replies.map(({ ttftMs }) => ttftMs),
      ),
      ...latency(
        'audio TTFP',
        replies.map(({ ttfpMs }) => ttfpMs),
      ),
      ...latency(
        'E2EL',
        replies.map(({ e2elMs }) => e2elMs),
      ),
    ];
  }

  /** Mean time of each stage, in order of the pipeline. */
  stages(nowMs: number): { name: string; meanMs: number }[] {
    const sums = new Map<string, { name: string; sumMs: number; count: number }>();
    for (const { stages } of this.#recent(nowMs)) {
      for (const { id, name, genMs } of stages) {
        const sum = sums.get(id) ?? { name, sumMs: 0, count: 0 };
        sum.sumMs += genMs;
        sum.count += 1;
        sums.set(id, sum);
      }
    }
    return [...sums]
      .sort(([a], [b]) => Number(a) - Number(b))
      .map(([, { name, sumMs, count }]) => ({ name, meanMs: sumMs / count }));
  }

  #recent(nowMs: number): Seen[] {
    return this.#replies.filter(({ atMs }) => atMs > nowMs - this.windowMs);
  }
}

function latency(label: string, values: readonly (number | null)[]): LiveLatency[] {
  const sorted = Float64Array.from(values.filter((value) => value !== null)).sort();
  const p50Ms = percentileOfSorted(sorted, 50);
  const p99Ms = percentileOfSorted(sorted, 99);
  return p50Ms === null || p99Ms === null ? [] : [{ label, p50Ms, p99Ms }];
}
