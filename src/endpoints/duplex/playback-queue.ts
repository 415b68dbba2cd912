/** The benchmark's output is fixed: mono 16-bit PCM of 24 kHz. */
export const outputRateHz = 24_000;

const samplesPerMs = outputRateHz / 1000;

/** Sound as it would have been played; times on the run's clock, ms. */
export type PlaybackSegment = {
  readonly responseId: string;
  /** 16-bit samples. */
  readonly pcm: Uint8Array;
  readonly startMs: number;
  readonly endMs: number;
};

/** A segment's place in the order of arrival; `null` = nothing of it was played. */
type Place = { segment: PlaybackSegment | null };

type Playing = {
  /** Those with a segment. */
  places: Place[];
  completed: boolean;
  truncated: boolean;
  /** Segments, from the first on, that were wholly played when it was last asked, and their samples. */
  past: number;
  pastSamples: number;
};

/** What has been heard of a response, and whether it is over. */
export type PlaybackProgress = {
  readonly responseId: string;
  /** ms, rounded down. */
  readonly playedMs: number;
  /** The response is done and all that is left of it was played. */
  readonly finished: boolean;
};

/**
 * One loudspeaker for all responses: a segment starts when it has come and everything before it was played. Pure: it
 * is told all times.
 */
export class PlaybackQueue {
  readonly #responses = new Map<string, Playing>();
  /** Of all responses, in order of arrival, which is that of playback. */
  readonly #places: Place[] = [];
  #endMs = Number.NEGATIVE_INFINITY;
  #receivedBytes = 0;

  /** When everything was played; −∞ where nothing came. */
  get endMs(): number {
    return this.#endMs;
  }

  /** What was or will be played, in order. */
  get segments(): readonly PlaybackSegment[] {
    return this.#places.flatMap(({ segment }) => segment ?? []);
  }

  /** Bytes of all sound that was taken, also of what was cut later. */
  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  get truncated(): boolean {
    return [...this.#responses.values()].some(({ truncated }) => truncated);
  }

  /** @returns bytes taken: 0 for a response that was cut, whose later sound is not played */
  push(responseId: string, pcm: Uint8Array, receivedMs: number): number {
    const playing = this.#of(responseId);
    if (playing.truncated) return 0;
    const startMs = Math.max(receivedMs, this.#endMs);
    const segment = { responseId, pcm, startMs, endMs: startMs + samplesOf(pcm) / samplesPerMs };
    const place = { segment };
    playing.places.push(place);
    this.#places.push(place);
    this.#endMs = segment.endMs;
    this.#receivedBytes += pcm.length;
    return pcm.length;
  }

  complete(responseId: string): void {
    const playing = this.#responses.get(responseId);
    if (playing !== undefined) playing.completed = true;
  }

  /** The server took the rest of a response back: what was not heard at `atMs` never will be. */
  clear(responseId: string, atMs: number): void {
    const playing = this.#responses.get(responseId);
    // Ends ascend, and what was cut once gets nothing more: hostile floods of clears must cost nothing.
    const endMs = playing?.places.at(-1)?.segment?.endMs ?? Number.NEGATIVE_INFINITY;
    if (playing === undefined || playing.truncated || endMs <= atMs) return;
    for (const place of playing.places)
      if (place.segment !== null && place.segment.endMs > atMs) place.segment = heardOf(place.segment, atMs);
    playing.truncated = true;
    playing.places = playing.places.filter(({ segment }) => segment !== null);
    playing.past = 0;
    playing.pastSamples = 0;
    while (this.#places.at(-1)?.segment === null) this.#places.pop();
    this.#endMs = Math.max(atMs, this.#places.at(-1)?.segment?.endMs ?? atMs);
  }

  /** Of every response that had sound, in order of its first. Times asked for must not fall. */
  *progress(nowMs: number): Generator<PlaybackProgress> {
    for (const [responseId, playing] of this.#responses) {
      let current = playing.places[playing.past]?.segment ?? null;
      while (current !== null && current.endMs <= nowMs) {
        playing.past += 1;
        playing.pastSamples += samplesOf(current.pcm);
        current = playing.places[playing.past]?.segment ?? null;
      }
      const samples = playing.pastSamples + (current ? partOf(current, nowMs) : 0);
      const finished = playing.completed && current === null;
      yield { responseId, playedMs: Math.floor(samples / samplesPerMs), finished };
    }
  }

  #of(responseId: string): Playing {
    let playing = this.#responses.get(responseId);
    if (playing === undefined) {
      playing = { places: [], completed: false, truncated: false, past: 0, pastSamples: 0 };
      this.#responses.set(responseId, playing);
    }
    return playing;
  }
}

function samplesOf(pcm: Uint8Array): number {
  return pcm.length / 2;
}

/** What was heard of a segment until then; `null` = nothing. */
function heardOf(segment: PlaybackSegment, atMs: number): PlaybackSegment | null {
  const kept = Math.floor((atMs - segment.startMs) * samplesPerMs);
  if (kept <= 0) return null;
  return { ...segment, pcm: segment.pcm.subarray(0, kept * 2), endMs: atMs };
}

function partOf({ pcm, startMs }: PlaybackSegment, nowMs: number): number {
  if (nowMs <= startMs) return 0;
  return Math.min(samplesOf(pcm), Math.floor((nowMs - startMs) * samplesPerMs + 0.5));
}
