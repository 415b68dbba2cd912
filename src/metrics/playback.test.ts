import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { eventLogOf } from '../records/event-log.ts';
import { audioTimingOf } from './audio-timing.ts';
import { audioChunks, wavFacts } from './metric-records.suite.ts';
import { playbackOf } from './playback.ts';

const chunk = fc.tuple(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: 12_000 }));
/** Gaps to arrival times. */
const arrivals = (chunks: readonly (readonly [number, number])[]): (readonly [number, number])[] => {
  let atMs = 1000;
  return chunks.map(([gapMs, frames]) => {
    atMs += gapMs;
    return [atMs, frames] as const;
  });
};

describe('playback', () => {
  property([fc.array(chunk, { minLength: 1, maxLength: 40 })])(
    'waits as long in all as the never-waiting player is late',
    (chunks) => {
      const events = eventLogOf(audioChunks(arrivals(chunks)));
      const waitsMs = playbackOf(events, 24_000)?.underruns.reduce((sum, { lengthMs }) => sum + lengthMs, 0);
      expect(waitsMs).toBeCloseTo(
        (audioTimingOf(events, wavFacts(0))?.continuity?.underrunS ?? Number.NaN) * 1000,
        6,
      );
    },
  );

  property([fc.array(chunk, { minLength: 1, maxLength: 40 })])(
    'ends when all has been heard, and never owes audio',
    (chunks) => {
      const events = eventLogOf(audioChunks(arrivals(chunks)));
      const playback = playbackOf(events, 24_000);
      if (!playback) throw new Error('audio came');
      const lengthMs = chunks.reduce((sum, [, frames]) => sum + frames / 24, 0);
      const waitsMs = playback.underruns.reduce((sum, underrun) => sum + underrun.lengthMs, 0);
      expect(playback.endMs - playback.startMs).toBeGreaterThanOrEqual(lengthMs + waitsMs - 1e-6);
      expect(Math.min(...playback.bufferS)).toBeGreaterThanOrEqual(0);
      expect(playback.bufferS.at(-1)).toBe(0);
      expect([...playback.timesMs]).toEqual([...playback.timesMs].sort((a, b) => a - b));
    },
  );

  it('shows where it ran dry', () => {
    // 100 ms of audio at 0, the next only at 250 ms: 150 ms of silence from 100 ms on.
    const events = eventLogOf(
      audioChunks([
        [0, 2400],
        [250, 2400],
      ]),
    );
    expect(playbackOf(events, 24_000)).toMatchObject({
      underruns: [{ startMs: 100, lengthMs: 150 }],
      endMs: 350,
    });
  });

  it('is not known where a chunk or the rate is not', () => {
    expect(playbackOf(eventLogOf([]), 24_000)).toBeNull();
    expect(playbackOf(eventLogOf(audioChunks([[0, 10]])), null)).toBeNull();
    expect(playbackOf(eventLogOf([{ kind: 4, frames: null, bytes: 9 }]), 24_000)).toBeNull();
  });
});
