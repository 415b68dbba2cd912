import { nowMs } from '../../foundation/clock.ts';

/** Large enough that one read empties the socket's buffer, so that a fast stream is never held up by its reader. */
const readBytes = 4 << 20;
/** Room for thousands of reads of single events. */
const heldBytes = 1 << 20;
const mostReads = 4096;
/** A read above this size is not copied to be held. */
const mostHeldBytes = 64 << 10;
/** How long reads are handed on before sockets get a turn, ms; some twenty events. */
const sliceMs = 0.1;
/** So long, in ms, reads are handed on at once after a pause of the sockets: few events cost no extra turn. */
const atOnceMs = 0.05;
const pauseMs = 0.02;

/** Whose reads are held. */
export type ReadTaker = {
  /** Takes bytes [from, to), valid during the call only, with the time at which they were read. */
  takeRead(bytes: Buffer, from: number, to: number, timeMs: number): void;
};

/**
 * Stamps the reads of all sockets first, and parses them after that, in slices between which new reads are stamped. With
 * hundreds of streams whose events come together, each would else be stamped late by the parsing of all before it.
 */
export class ReadQueue {
  /** What sockets may read into; all of them into its start. */
  readonly readBuffer: Buffer;
  readonly #memory = Buffer.allocUnsafeSlow(readBytes + heldBytes);
  #used = readBytes;
  /** Columns instead of objects: nothing is allocated for a read. */
  readonly #takers = new Array<ReadTaker | null>(mostReads).fill(null);
  readonly #ends = new Uint32Array(mostReads);
  readonly #timesMs = new Float64Array(mostReads);
  #head = 0;
  #count = 0;
  /** Where the next read's bytes begin. */
  #from = readBytes;
  #handing = false;
  /** Since when, and until when, reads were handed on without a pause between them, ms. */
  #busySinceMs = 0;
  #busyUntilMs = 0;

  readonly #nowMs: () => number;

  constructor(clock: () => number = nowMs) {
    this.#nowMs = clock;
    this.readBuffer = this.#memory.subarray(0, readBytes);
  }

  /** Holds the first `length` bytes of the read buffer, or of memory of the caller's own. */
  hold(taker: ReadTaker, bytes: Buffer, length: number): void {
    const timeMs = this.#nowMs();
    const large = length > mostHeldBytes;
    if (large || this.#used + length > this.#memory.length || this.#count === mostReads) this.drain();
    if (large || this.#isAtOnce(timeMs)) {
      taker.takeRead(bytes, 0, length, timeMs);
      this.#busyUntilMs = this.#nowMs();
      return;
    }
    if (bytes === this.readBuffer) this.#memory.copyWithin(this.#used, 0, length);
    else bytes.copy(this.#memory, this.#used);
    this.#used += length;
    this.#takers[this.#count] = taker;
    this.#ends[this.#count] = this.#used;
    this.#timesMs[this.#count] = timeMs;
    this.#count += 1;
    if (this.#count === 1) setImmediate(this.#turn);
  }

  /** Hands on everything that is held; what follows it then comes in order. */
  drain(): void {
    this.#handOn(Number.POSITIVE_INFINITY);
  }

  #isAtOnce(timeMs: number): boolean {
    if (this.#count > 0) return false;
    if (timeMs - this.#busyUntilMs > pauseMs) this.#busySinceMs = timeMs;
    return timeMs - this.#busySinceMs < atOnceMs;
  }

  readonly #turn = (): void => {
    this.#handOn(this.#nowMs() + sliceMs);
    if (this.#count > 0) setImmediate(this.#turn);
  };

  #handOn(untilMs: number): void {
    // A taker may come back here, for instance by closing its connection; the loop it is called from goes on.
    if (this.#handing || this.#count === 0) return;
    this.#handing = true;
    try {
      do {
        this.#handOnNext();
        this.#busyUntilMs = this.#nowMs();
      } while (this.#head < this.#count && this.#busyUntilMs < untilMs);
    } finally {
      this.#handing = false;
      if (this.#head >= this.#count) this.#startOver();
    }
  }

  #handOnNext(): void {
    const at = this.#head;
    const taker = this.#takers[at];
    const from = this.#from;
    const to = this.#ends[at] ?? from;
    this.#head = at + 1;
    this.#from = to;
    this.#takers[at] = null;
    taker?.takeRead(this.#memory, from, to, this.#timesMs[at] ?? 0);
  }

  #startOver(): void {
    this.#head = 0;
    this.#count = 0;
    this.#used = readBytes;
    this.#from = readBytes;
  }
}
