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

type Playing = {
  segments: PlaybackSegment[];
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
  /** All segments in order of arrival. */
  #segments: PlaybackSegment[] = [];
  #endMs = Number.NEGATIVE_INFINITY;
  #receivedBytes = 0;

  /** When everything was played; −∞ where nothing came. */
  get endMs(): number {
    return this.#endMs;
  }

  get segments(): readonly PlaybackSegment[] {
    return this.#segments;
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
    playing.segments.push(segment);
    this.#segments.push(segment);
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
    if (playing === undefined || !playing.segments.some(({ endMs }) => endMs > atMs)) return;
    const cut = (segment: PlaybackSegment): PlaybackSegment[] => {
      if (segment.responseId !== responseId || segment.endMs <= atMs) return [segment];
      const kept = Math.floor((atMs - segment.startMs) * samplesPerMs);
      if (kept <= 0) return [];
      return [{ ...segment, pcm: segment.pcm.subarray(0, kept * 2), endMs: atMs }];
    };
    playing.truncated = true;
    playing.segments = playing.segments.flatMap(cut);
    playing.past = 0;
    playing.pastSamples = 0;
    this.#segments = this.#segments.flatMap(cut);
    this.#endMs = this.#segments.reduce((latest, { endMs }) => Math.max(latest, endMs), atMs);
  }

  /** Of every response that had sound, in order of its first. Times asked for must not fall. */
  *progress(nowMs: number): Generator<PlaybackProgress> {
    for (const [responseId, playing] of this.#responses) {
      const { segments } = playing;
      for (let next = segments[playing.past]; next && next.endMs <= nowMs; next = segments[playing.past]) {
        playing.past += 1;
        playing.pastSamples += samplesOf(next.pcm);
      }
      const current = segments[playing.past];
      const samples = playing.pastSamples + (current ? partOf(current, nowMs) : 0);
      const finished = playing.completed && current === undefined;
      yield { responseId, playedMs: Math.floor(samples / samplesPerMs), finished };
    }
  }

  #of(responseId: string): Playing {
    let playing = this.#responses.get(responseId);
    if (playing === undefined) {
      playing = { segments: [], completed: false, truncated: false, past: 0, pastSamples: 0 };
      this.#responses.set(responseId, playing);
    }
    return playing;
  }
}

function samplesOf(pcm: Uint8Array): number {
  return pcm.length / 2;
}

function partOf({ pcm, startMs }: PlaybackSegment, nowMs: number): number {
  if (nowMs <= startMs) return 0;
  return Math.min(samplesOf(pcm), Math.floor((nowMs - startMs) * samplesPerMs + 0.5));
}
