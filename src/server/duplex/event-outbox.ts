import {
  type DuplexEvent,
  type EventNote,
  type EventWire,
  type StampedEvent,
  stampless,
} from './duplex-event.ts';
import { EventJournal, type JournalLimits, type ReplayGap } from './event-journal.ts';

/**
 * Everything that a session says, in order: stamped, kept for a client that comes back, and sent to the socket that
 * is attached, if one is.
 */
export class EventOutbox {
  readonly #journal: EventJournal;
  readonly #newId: () => string;
  readonly #sessionId: string;
  #wire: EventWire | null = null;
  #lastSeq: number;

  /** @param lastSeq of what the client has seen on this socket before there was a session */
  constructor(sessionId: string, lastSeq: number, limits: JournalLimits, newId: () => string) {
    this.#sessionId = sessionId;
    this.#lastSeq = lastSeq;
    this.#journal = new EventJournal(limits, lastSeq);
    this.#newId = newId;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  get wire(): EventWire | null {
    return this.#wire;
  }

  attach(wire: EventWire): void {
    this.#wire = wire;
  }

  detach(): void {
    this.#wire = null;
  }

  emit(event: DuplexEvent, note: EventNote = {}): void {
    this.#lastSeq += 1;
    const seq = this.#lastSeq;
    const stamped: StampedEvent = {
      ...note,
      type: event.type,
      sessionId: this.#sessionId,
      seq,
      text: JSON.stringify({ ...event, event_id: `event_${this.#newId()}`, server_event_seq: seq }),
    };
    this.#journal.add(stamped, seq);
    this.#wire?.send(stamped);
  }

  /** Tells the socket that is attached something that no replay repeats. */
  tell(event: DuplexEvent): void {
    this.#wire?.send({
      type: event.type,
      sessionId: this.#sessionId,
      seq: null,
      text: stampless(event, this.#newId()),
    });
  }

  /** The client has everything up to here. */
  acknowledge(seq: number): void {
    this.#journal.trim(seq);
  }

  /** Why what follows `seq` can't be had any more; `null` = it can. */
  gapAfter(seq: number): ReplayGap | null {
    return this.#journal.gapAfter(seq, this.#lastSeq);
  }

  /** Sends again what followed `seq`. */
  replayAfter(seq: number): void {
    for (const event of this.#journal.after(seq)) this.#wire?.send(event);
  }
}
