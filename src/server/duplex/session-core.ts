import type { Random } from '../../foundation/random.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import { Conversation } from './conversation.ts';
import type { DuplexEvent, EventNote } from './duplex-event.ts';
import type { DuplexLaws } from './duplex-laws.ts';
import type { DuplexObserver } from './duplex-observer.ts';
import type { SessionScript } from './duplex-script.ts';
import type { EventOutbox } from './event-outbox.ts';
import { PlaybackLedger } from './playback-ledger.ts';
import type { SessionConfig } from './session-config.ts';
import { TaskSet } from './task-set.ts';
import { UnitClock } from './unit-clock.ts';

/** What all sessions of a server share. */
export type DuplexParts = {
  readonly scheduler: Scheduler;
  /** On all simulated durations; not on leases. */
  readonly timeScale: number;
  readonly laws: DuplexLaws;
  readonly eventNames: 'current' | 'beta';
  readonly chunkPeriodMs: number;
  /** The model decides when to speak; otherwise it answers turns, and needs nobody's voice. */
  readonly modelDecides: boolean;
  readonly servedModelName: string;
  readonly countTokens: (text: string) => number;
  /** Names of the language, speech and vocoder stages. */
  readonly stageNames: readonly string[];
  /** 32 hex digits, new each time. */
  readonly newId: () => string;
  readonly observer: DuplexObserver;
  /** Takes a line per response and session that ended; `null` = nobody wants it. */
  readonly logLine: ((line: string) => void) | null;
};

/** What goes wrong with everything that the session generates. */
export type SessionFaults = {
  /** Its responses take so many times as long. */
  readonly factor: number;
  /** The next response fails in its engine. */
  readonly engineDead: boolean;
  /** Its sound says that it has this rate; `null` = the one that it has. */
  readonly claimedRateHz: number | null;
};

/** What the parts of one session share. */
export class SessionCore {
  readonly id: string;
  readonly parts: DuplexParts;
  readonly script: SessionScript;
  readonly random: Random;
  readonly faults: SessionFaults;
  readonly outbox: EventOutbox;
  readonly tasks: TaskSet;
  readonly conversation = new Conversation();
  readonly ledger = new PlaybackLedger();
  readonly clock: UnitClock;
  config: SessionConfig;
  readonly openedMs: number;
  #epoch = 0;
  /** Committed turns of the user. */
  turnId = 0;

  constructor(given: {
    readonly id: string;
    readonly parts: DuplexParts;
    readonly script: SessionScript;
    readonly random: Random;
    readonly faults: SessionFaults;
    readonly outbox: EventOutbox;
    readonly config: SessionConfig;
  }) {
    this.id = given.id;
    this.parts = given.parts;
    this.script = given.script;
    this.random = given.random;
    this.faults = given.faults;
    this.outbox = given.outbox;
    this.config = given.config;
    this.tasks = new TaskSet(given.parts.scheduler);
    this.openedMs = given.parts.scheduler.nowMs();
    this.clock = new UnitClock(given.parts.chunkPeriodMs);
  }

  /** Output of an earlier epoch is stale. */
  get epoch(): number {
    return this.#epoch;
  }

  /** @param reason for who watches */
  raiseEpoch(reason: string): void {
    this.#epoch += 1;
    this.parts.observer.epochRaised(reason);
  }

  emit(event: DuplexEvent, note?: EventNote): void {
    this.outbox.emit(event, note);
  }

  /** Listens on: a decision of the model at a unit's end or after a commit. */
  emitListen(reason: string, responseId: string | null = null): void {
    const marks = {
      model_listen: { reason, model_listen: true },
      buffering: { reason: 'buffering', model_listen: true, buffering: true },
      none: { reason },
    };
    const { id, epoch } = this;
    this.emit({
      type: 'response.listen',
      session_id: id,
      epoch,
      ...(responseId === null ? {} : { response_id: responseId }),
      response: {
        object: 'realtime.response',
        status: 'listening',
        metadata: { type: 'response.listen', session_id: id, epoch, ...marks[this.script.listen_mark] },
      },
    });
  }
}
