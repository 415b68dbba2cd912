import type { PlaybackQueue } from './playback-queue.ts';

/** What is to be said of a response's playback. */
export type PlaybackAck = { readonly responseId: string; readonly playedMs: number };

/** Least progress between two acks of a response that is still being played, ms. */
const stepMs = 200;

/**
 * Says when the server must hear how far playback is: at once for a new response (the first ack, even of 0 ms, fixes
 * its place in the history), then every 200 ms of sound, and when all of it was played.
 */
export class PlaybackAcks {
  readonly #queue: PlaybackQueue;
  readonly #lastMs = new Map<string, number>();
  readonly #final = new Set<string>();

  constructor(queue: PlaybackQueue) {
    this.#queue = queue;
  }

  due(nowMs: number): PlaybackAck[] {
    const acks: PlaybackAck[] = [];
    for (const { responseId, playedMs, finished } of this.#queue.progress(nowMs)) {
      if (this.#final.has(responseId)) continue;
      const last = this.#lastMs.get(responseId);
      if (finished) this.#final.add(responseId);
      const isNews = last === undefined || (finished ? playedMs > last : playedMs - last >= stepMs);
      if (!isNews) continue;
      this.#lastMs.set(responseId, playedMs);
      acks.push({ responseId, playedMs });
    }
    return acks;
  }
}
