import { type EventLog, eventKinds } from '../records/event-log.ts';

/** A gap in which the player had nothing to play, ms on the run's clock. */
export type Underrun = { readonly startMs: number; readonly lengthMs: number };

/** How one reply's audio would have played as it came. */
export type Playback = {
  /** When the first chunk came and playback began, ms on the run's clock. */
  readonly startMs: number;
  /** When the last of the audio had been played. */
  readonly endMs: number;
  /** Corners of the buffer's course in order of time: just before and just after each chunk, and the end. */
  readonly timesMs: Float64Array;
  /** Audio that had come and was not yet played, s. */
  readonly bufferS: Float64Array;
  readonly underruns: readonly Underrun[];
};

/**
 * Plays a streamed reply in a model of a player that starts with the first chunk, plays at the audio's own speed, and
 * waits where the buffer is empty. The waits add up to the reply's `audio_underrun`, whose player never waits.
 * @param sampleRateHz `null` = not known
 * @returns `null` where no audio came, or the length of some chunk is not known
 */
export function playbackOf(events: EventLog, sampleRateHz: number | null): Playback | null {
  if (sampleRateHz === null || sampleRateHz <= 0) return null;
  const chunks: number[] = [];
  for (let i = 0; i < events.kinds.length; i += 1) if (events.kinds[i] === eventKinds.audio) chunks.push(i);
  const [first] = chunks;
  if (first === undefined) return null;
  const player = new Player(events.timesMs[first] ?? 0);
  for (const i of chunks) {
    const frames = events.frames[i] ?? -1;
    if (frames < 0) return null;
    player.receive(events.timesMs[i] ?? 0, (frames * 1000) / sampleRateHz);
  }
  return player.end();
}

class Player {
  readonly #startMs: number;
  #atMs: number;
  #bufferMs = 0;
  readonly #timesMs: number[] = [];
  readonly #bufferS: number[] = [];
  readonly #underruns: Underrun[] = [];

  constructor(startMs: number) {
    this.#startMs = startMs;
    this.#atMs = startMs;
  }

  receive(timeMs: number, lengthMs: number): void {
    this.#playUntil(timeMs);
    this.#bufferMs += lengthMs;
    this.#mark(timeMs);
  }

  end(): Playback {
    const endMs = this.#atMs + this.#bufferMs;
    this.#bufferMs = 0;
    this.#mark(endMs);
    return {
      startMs: this.#startMs,
      endMs,
      timesMs: Float64Array.from(this.#timesMs),
      bufferS: Float64Array.from(this.#bufferS),
      underruns: this.#underruns,
    };
  }

  #playUntil(timeMs: number): void {
    const passedMs = timeMs - this.#atMs;
    const emptyMs = passedMs - this.#bufferMs;
    if (emptyMs > 0 && this.#timesMs.length > 0) {
      const startMs = this.#atMs + this.#bufferMs;
      this.#bufferMs = 0;
      this.#mark(startMs);
      this.#underruns.push({ startMs, lengthMs: emptyMs });
    } else this.#bufferMs = Math.max(this.#bufferMs - passedMs, 0);
    this.#mark(timeMs);
    this.#atMs = timeMs;
  }

  #mark(timeMs: number): void {
    this.#timesMs.push(timeMs);
    this.#bufferS.push(this.#bufferMs / 1000);
  }
}
