import type { RunFacts } from '../records/run-facts.ts';

/** What run aggregates are made from: sums over the measured requests. Only successful ones add to sums. */
export type RunFigures = {
  readonly run: RunFacts;
  /** From the first arrival to the last end; `null` = nothing was measured. */
  readonly durationS: number | null;
  readonly completed: number;
  readonly failed: number;
  /** Requests stopped by the user or the end of the run; not among the failed. */
  readonly aborted: number;
  /** Requests that met all objectives; `null` = none was set. */
  readonly good: number | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Replies whose tokens were counted by the server or a tokenizer. */
  readonly countedReplies: number;
  readonly audioReplies: number;
  /** Replies with audio whose length is known. */
  readonly timedAudioReplies: number;
  readonly audioDurationS: number;
  readonly audioFrames: number;
  /** Replies for which playback could be modelled, and those that played without a gap above the threshold. */
  readonly continuityKnown: number;
  readonly continuityOk: number;
  readonly inputAudioDurationS: number;
  readonly images: number;
  readonly pixels: number;
  readonly sizedImages: number;
  readonly videoDurationS: number;
  readonly videoFrames: number;
  /** Messages that shared their network read with the one before them. */
  readonly coalescedEvents: number;
  /** How late chunks of live input left, ms: their mean, and the worst; `null` = none was sent. */
  readonly pacingMeanLagMs: number | null;
  readonly pacingMaxLagMs: number | null;
  /** Requests among the measured that an earlier run had finished. */
  readonly kept: number;
  readonly peaks: RunPeaks;
};

export type RunPeaks = {
  /** In one-second buckets, as the reference counts; `null` = sessions hold many responses, whose tokens have no times. */
  readonly tokensPerS: number | null;
  readonly concurrent: number;
  /** Within any second, messages weighing their tokens; `null` as above. */
  readonly tokensPerSExact: number | null;
  /** At one moment, failed requests included. */
  readonly concurrentExact: number;
};

/** A sum per second of the run; `null` where the run has no length. */
export function perSecond(sum: number | null, { durationS }: RunFigures): number | null {
  return sum === null || durationS === null || durationS <= 0 ? null : sum / durationS;
}
