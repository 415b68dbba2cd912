import type { SessionConfig } from './session-config.ts';

/** What becomes of input that comes while the assistant speaks. */
export type OverlapDecision = {
  readonly action: 'drop' | 'listen' | 'barge_in';
  readonly reason: string;
  readonly overlapMs: number;
};

type Policy = Pick<SessionConfig, 'overlapPolicy' | 'overlapShortAckMs' | 'overlapBargeInMs'>;

/** Adds up how long the user speaks into one response. */
export class OverlapJudge {
  #overlapMs = 0;
  #lastAction: OverlapDecision['action'] | null = null;

  /** @returns what to do with so much input; `isNews` where that differs from what was done with the input before it */
  judge(
    durationMs: number,
    isSpeech: boolean,
    { overlapPolicy, overlapShortAckMs, overlapBargeInMs }: Policy,
  ): OverlapDecision & { readonly isNews: boolean } {
    if (!isSpeech) return this.#decide('drop', 'silence');
    this.#overlapMs += durationMs;
    if (overlapPolicy === 'listen_only') return this.#decide('listen', 'policy_listen_only');
    if (overlapPolicy === 'barge_in_on_speech') return this.#decide('barge_in', 'policy_barge_in_on_speech');
    if (this.#overlapMs >= overlapBargeInMs) return this.#decide('barge_in', 'long_overlap_speech');
    const short = this.#overlapMs <= overlapShortAckMs;
    return this.#decide('listen', short ? 'short_ack' : 'accumulating_overlap_speech');
  }

  /** Another response begins. */
  reset(): void {
    this.#overlapMs = 0;
    this.#lastAction = null;
  }

  #decide(action: OverlapDecision['action'], reason: string): OverlapDecision & { readonly isNews: boolean } {
    const isNews = action !== this.#lastAction;
    this.#lastAction = action;
    return { action, reason, overlapMs: Math.round(this.#overlapMs), isNews };
  }
}
