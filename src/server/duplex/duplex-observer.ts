/** Why a response of the assistant is over. */
export type TurnEnd = 'stop' | 'barge_in' | 'cancel' | 'close' | 'abort' | 'error';

/** What asked for a decision: the end of a unit of input, a commit, or a client or turn that an answer is owed to. */
export type DecisionTrigger = 'unit' | 'commit' | 'request';
/** `speak_on`: a response is being said, and goes on. */
export type Decision = 'speak' | 'speak_on' | 'listen';

/** Watches one response. */
export type ResponseWatch = {
  /**
   * Some of it has left.
   * @param tokens new in it
   * @param tokenGapsMs between its tokens, and before the first of them where one was said before
   * @param samples of sound
   */
  said(tokens: number, tokenGapsMs: readonly number[], samples: number): void;
  ended(reason: TurnEnd): void;
};

/** Takes what is seen of conversations. */
export type DuplexObserver = {
  sessionOpened(): void;
  /** @param code of the error that its client was told */
  refused(kind: 'session' | 'chat', code: string): void;
  sessionResumed(): void;
  /**
   * @param reason as `session.closed` tells it
   * @param end whether it ended in order, or was lost
   */
  sessionEnded(reason: string, end: 'close' | 'abort', openedMs: number): void;
  heard(audioMs: number, videoFrames: number): void;
  /** A unit of input has closed. */
  unitClosed(): void;
  decided(trigger: DecisionTrigger, decision: Decision): void;
  /** A turn of the user was committed. */
  turnCommitted(): void;
  /** Output of before is stale. */
  epochRaised(reason: string): void;
  /** Events of a client were dropped for want of room. */
  eventsDropped(count: number): void;
  /** @param aloud whether it is to have sound */
  responseBegun(startMs: number, aloud: boolean): ResponseWatch;
};

const nothing = (): void => {};

/** Sees nothing. */
export const noDuplexObserver: DuplexObserver = {
  sessionOpened: nothing,
  refused: nothing,
  sessionResumed: nothing,
  sessionEnded: nothing,
  heard: nothing,
  unitClosed: nothing,
  decided: nothing,
  turnCommitted: nothing,
  epochRaised: nothing,
  eventsDropped: nothing,
  responseBegun: () => ({ said: nothing, ended: nothing }),
};

/** Ends of a session that nobody asked for. */
const losses = ['disconnect', 'timeout', 'transport_error', 'shutdown'];

/** How a session ended, by what its client was told. */
export function sessionEndOf(reason: string): 'close' | 'abort' {
  return losses.includes(reason) ? 'abort' : 'close';
}

/** How a response ended, by the status and reason of its `response.done`. */
export function turnEndOf({
  status,
  reason,
}: {
  readonly status: 'completed' | 'cancelled' | 'failed';
  readonly reason: string | null;
}): TurnEnd {
  if (status === 'completed') return 'stop';
  if (status === 'failed') return 'error';
  if (reason === 'barge_in' || reason === 'turn_detected') return 'barge_in';
  return reason === 'client_cancelled' || reason === 'new_response' ? 'cancel' : 'abort';
}
