import { roundTo } from '../../foundation/nearest-rank.ts';
import type { DuplexTranscriptChunk } from '../../records/duplex-session.ts';
import type { PlaybackSegment } from './playback-queue.ts';

/**
 * What was said when: one chunk for each response that spoke before the input's end, in order of creation. Times are
 * those of playback, s after the input stream began.
 * @param texts all text of each response, by id
 */
export function transcriptChunks(
  created: readonly string[],
  texts: ReadonlyMap<string, string>,
  {
    segments,
    streamStartMs,
    horizonS,
  }: {
    segments: readonly PlaybackSegment[];
    streamStartMs: number;
    horizonS: number;
  },
): DuplexTranscriptChunk[] {
  const spans = playedSpans(segments, streamStartMs);
  return created.flatMap((responseId) => {
    const text = texts.get(responseId)?.trim() ?? '';
    const span = spans.get(responseId);
    if (text === '' || span === undefined || span.startS >= horizonS) return [];
    const endS = Math.min(span.endS, horizonS);
    return [{ responseId, text, timestampS: [roundTo(span.startS, 6), roundTo(endS, 6)] as const }];
  });
}

function playedSpans(
  segments: readonly PlaybackSegment[],
  streamStartMs: number,
): Map<string, { startS: number; endS: number }> {
  const spans = new Map<string, { startS: number; endS: number }>();
  for (const { responseId, startMs, endMs } of segments) {
    const startS = Math.max(0, (startMs - streamStartMs) / 1000);
    const endS = Math.max(startS, (endMs - streamStartMs) / 1000);
    const known = spans.get(responseId);
    spans.set(
      responseId,
      known === undefined
        ? { startS, endS }
        : { startS: Math.min(known.startS, startS), endS: Math.max(known.endS, endS) },
    );
  }
  return spans;
}
