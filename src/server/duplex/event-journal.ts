import type { StampedEvent } from './duplex-event.ts';

/** Most that is kept for a client that may come back. */
export type JournalLimits = { readonly events: number; readonly chars: number };

/** Why a client can't be given what it missed: more was missed than is kept, or it claims what it can't have missed. */
export type ReplayGap = 'journal_gap' | 'journal_overflow';

type Entry = { readonly seq: number; readonly event: StampedEvent };

/** The events that a client has not yet acknowledged, up to a bound. */
export class EventJournal {
  readonly #limits: JournalLimits;
  /** A queue whose first entries up to `#first` are gone. */
  #entries: Entry[] = [];
  #first = 0;
  #chars = 0;
  /** Up to here the client had acknowledged. */
  #trimmedSeq: number;
  /** Up to here events were lost, since there were too many. */
  #overflowedSeq: number;

  constructor(limits: JournalLimits, lastSeq: number) {
    this.#limits = limits;
    this.#trimmedSeq = lastSeq;
    this.#overflowedSeq = lastSeq;
  }

  add(event: StampedEvent, seq: number): void {
    this.#entries.push({ seq, event });
    this.#chars += event.text.length;
    while (this.#size() > this.#limits.events || this.#chars > this.#limits.chars) {
      const lost = this.#shift();
      if (lost === null) break;
      this.#overflowedSeq = lost.seq;
    }
  }

  trim(seq: number): void {
    for (let entry = this.#entries[this.#first]; entry !== undefined && entry.seq <= seq; ) {
      this.#shift();
      this.#trimmedSeq = entry.seq;
      entry = this.#entries[this.#first];
    }
  }

  gapAfter(seq: number, lastSeq: number): ReplayGap | null {
    if (seq > lastSeq || seq < this.#trimmedSeq) return 'journal_gap';
    return seq < this.#overflowedSeq ? 'journal_overflow' : null;
  }

  after(seq: number): StampedEvent[] {
    return this.#entries
      .slice(this.#first)
      .filter((entry) => entry.seq > seq)
      .map(({ event }) => event);
  }

  #size(): number {
    return this.#entries.length - this.#first;
  }

  #shift(): Entry | null {
    const entry = this.#entries[this.#first];
    if (entry === undefined) return null;
    this.#first += 1;
    this.#chars -= entry.event.text.length;
    // Taken off in bulk: taking off one at a time would move the whole queue each time.
    if (this.#first >= 256 && this.#first * 2 >= this.#entries.length) {
      this.#entries = this.#entries.slice(this.#first);
      this.#first = 0;
    }
    return entry;
  }
}
