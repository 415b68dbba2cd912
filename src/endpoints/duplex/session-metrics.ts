import { nearestRank, roundTo } from '../../foundation/nearest-rank.ts';
import { mean } from '../../foundation/statistics.ts';
import type {
  DuplexRequestRow,
  DuplexResponseTimings,
  DuplexSessionMetrics,
  DuplexStatistic,
  DuplexStreamTimings,
} from '../../records/duplex-session.ts';
import type { ResponseTimings } from './response-timings.ts';

const streamOrigins = {
  ttft: 'input stream start to first non-empty text delta',
  ttfp: 'input stream start to first audio packet',
  rtf: 'input stream start-to-last-audio receive time divided by total emitted audio duration; includes concurrent realtime input',
};

/** Figures of a session over its responses. */
export function sessionMetrics(
  rows: readonly DuplexRequestRow[],
  responses: readonly ResponseTimings[],
  streamStartMs: number | null,
): DuplexSessionMetrics {
  const over = (pick: (timings: DuplexResponseTimings) => number | null, decimals = 3) =>
    statistic(
      rows.map(({ timings }) => (timings === null ? null : pick(timings))),
      decimals,
    );
  return {
    audioTurnCount: rows.length,
    ttftMs: over(({ ttftMs }) => ttftMs),
    ttfpMs: over(({ ttfpMs }) => ttfpMs),
    rtf: over(({ rtf }) => rtf, 6),
    tpotMs: statistic(
      rows.map(({ timings, stageZero }) => positive(timings && stageZero?.tpotMs)),
      3,
    ),
    clientTtftMs: over(({ clientTtftMs }) => clientTtftMs),
    clientTtfpMs: over(({ clientTtfpMs }) => clientTtfpMs),
    stream: streamStartMs === null ? null : streamTimings(responses, streamStartMs),
  };
}

function positive(value: number | null | undefined): number | null {
  return typeof value === 'number' && value > 0 ? value : null;
}

function statistic(values: readonly (number | null)[], decimals: number): DuplexStatistic | null {
  const seen = values.filter((value) => value !== null).sort((a, b) => a - b);
  const [average, p50, p99] = [mean(seen), nearestRank(seen, 0.5), nearestRank(seen, 0.99)];
  if (average === null || p50 === null || p99 === null) return null;
  return {
    count: seen.length,
    mean: roundTo(average, decimals),
    p50: roundTo(p50, decimals),
    p99: roundTo(p99, decimals),
  };
}

function streamTimings(
  responses: readonly ResponseTimings[],
  streamStartMs: number,
): DuplexStreamTimings | null {
  let firstTextMs = Number.POSITIVE_INFINITY;
  let firstAudioMs = Number.POSITIVE_INFINITY;
  let lastAudioMs = Number.NEGATIVE_INFINITY;
  let durationMs = 0;
  for (const response of responses) {
    firstTextMs = Math.min(firstTextMs, response.firstTextMs ?? firstTextMs);
    firstAudioMs = Math.min(firstAudioMs, response.firstAudioMs ?? firstAudioMs);
    lastAudioMs = Math.max(lastAudioMs, response.lastAudioMs ?? lastAudioMs);
    if (response.hasAudio) durationMs += response.audioDurationMs;
  }
  if (!Number.isFinite(firstAudioMs)) return null;
  const audioGenerationMs = Math.max(0, lastAudioMs - streamStartMs);
  return {
    ttftMs: Number.isFinite(firstTextMs) ? roundTo(firstTextMs - streamStartMs, 3) : null,
    ttfpMs: roundTo(firstAudioMs - streamStartMs, 3),
    rtf: durationMs > 0 ? roundTo(audioGenerationMs / durationMs, 6) : null,
    audioGenerationMs: roundTo(audioGenerationMs, 3),
    audioDurationMs: roundTo(durationMs, 3),
    origins: streamOrigins,
  };
}
