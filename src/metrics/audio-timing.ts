import { type EventLog, eventKinds } from '../records/event-log.ts';
import type { AudioFacts } from '../records/request-record.ts';

/** When the audio of one streamed reply came. Times in ms on the run's clock. */
export type AudioTiming = {
  readonly firstMs: number;
  readonly lastMs: number;
  /** `null` where the length of a chunk is not known: an encoded format, or a chunk that could not be read. */
  readonly continuity: Continuity | null;
};

/** How playback would have gone that starts with the first chunk and never waits. */
export type Continuity = {
  /** How far the audio lagged behind playback at worst, s; 0 = never. */
  readonly underrunS: number;
  /** Chunks that came too late. */
  readonly lateChunks: number;
};

/** `null` = no audio came, or it did not come as a stream. */
export function audioTimingOf(events: EventLog, audio: AudioFacts | null): AudioTiming | null {
  let first = -1;
  let last = -1;
  for (let i = 0; i < events.kinds.length; i += 1) {
    if (events.kinds[i] !== eventKinds.audio) continue;
    if (first < 0) first = i;
    last = i;
  }
  if (first < 0) return null;
  return {
    firstMs: events.timesMs[first] ?? 0,
    lastMs: events.timesMs[last] ?? 0,
    continuity: continuityOf(events, first, audio?.sampleRateHz ?? null),
  };
}

/**
 * The player's model of vLLM-Omni PR #3618: a chunk is late by the time since the first one minus the audio that
 * had come before it.
 */
function continuityOf(events: EventLog, first: number, sampleRateHz: number | null): Continuity | null {
  if (sampleRateHz === null || sampleRateHz <= 0) return null;
  const startMs = events.timesMs[first] ?? 0;
  let playableFrames = 0;
  let underrunMs = 0;
  let lateChunks = 0;
  for (let i = first; i < events.kinds.length; i += 1) {
    if (events.kinds[i] !== eventKinds.audio) continue;
    const lateMs = (events.timesMs[i] ?? 0) - startMs - (playableFrames * 1000) / sampleRateHz;
    if (i > first && lateMs > 0) {
      lateChunks += 1;
      underrunMs = Math.max(underrunMs, lateMs);
    }
    const frames = events.frames[i] ?? -1;
    if (frames < 0) return null;
    playableFrames += frames;
  }
  return { underrunS: underrunMs / 1000, lateChunks };
}
