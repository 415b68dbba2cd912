import type { RequestRow, RunSummary } from '../../metrics/summary.ts';

/** To be raised whenever the page could not read an older model. */
export const requestTimelineVersion = 1;

/** One request as the page draws it. Times in ms; a bar for the first token, and one for each gap after it. */
export type TimelineRequest = {
  readonly index: number;
  /** After the earliest start. */
  readonly startMs: number;
  /** Start to end. */
  readonly latencyMs: number;
  readonly ttftMs: number;
  readonly gapsMs: readonly number[];
  readonly promptTokens: number | null;
  readonly outputTokens: number;
};

/** What the page of `--plot-timeline` shows. */
export type RequestTimeline = {
  readonly version: typeof requestTimelineVersion;
  readonly model: string;
  readonly startedAt: string;
  /** Gaps below the first are green, below the second orange, others red, ms. */
  readonly thresholdsMs: readonly [number, number];
  readonly requests: readonly TimelineRequest[];
  /** Requests that could be shown; more than `requests` where they would be too many bars. */
  readonly total: number;
};

/** More bars than this make a page that no browser is quick with. */
const mostBars = 300_000;

type Shown = {
  readonly row: RequestRow;
  readonly startS: number;
  readonly ttftMs: number;
  readonly latencyMs: number;
};

/** Requests that came to a first token; others have nothing to draw. */
function shownOf(row: RequestRow): Shown | null {
  const { startS, values } = row;
  if (startS === null || values.ttft === null || values.e2el === null) return null;
  return { row, startS, ttftMs: values.ttft, latencyMs: values.e2el };
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/**
 * The requests of a run as bars in time; where there are too many, every n-th of them.
 * @returns `null` where no request came to a first token
 */
export function requestTimeline(
  summary: RunSummary,
  thresholdsMs: readonly [number, number],
  limit = mostBars,
): RequestTimeline | null {
  let total = 0;
  let bars = 0;
  let firstS = Number.POSITIVE_INFINITY;
  for (const row of summary.requests()) {
    const shown = shownOf(row);
    if (shown === null) continue;
    total += 1;
    bars += 1 + row.gapsMs.length;
    firstS = Math.min(firstS, shown.startS);
  }
  if (total === 0) return null;
  const every = Math.ceil(bars / limit);
  const requests: TimelineRequest[] = [];
  let seen = 0;
  for (const row of summary.requests()) {
    const shown = shownOf(row);
    if (shown === null) continue;
    seen += 1;
    if ((seen - 1) % every !== 0) continue;
    requests.push({
      index: row.record.index,
      startMs: rounded((shown.startS - firstS) * 1000),
      latencyMs: rounded(shown.latencyMs),
      ttftMs: rounded(shown.ttftMs),
      gapsMs: Array.from(row.gapsMs, rounded),
      promptTokens: row.inputTokens,
      outputTokens: row.outputTokens,
    });
  }
  const { facts } = summary;
  return {
    version: requestTimelineVersion,
    model: facts.modelId,
    startedAt: facts.startedAt,
    thresholdsMs,
    requests,
    total,
  };
}
