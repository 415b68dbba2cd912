/** What may be sent after a piece of text came in. */
export type FilteredText = {
  /** Text that is certainly not part of a stop text. */
  readonly text: string;
  /** The stop text that was met, else `null`; nothing of it or after it is sent. */
  readonly stop: string | null;
};

/**
 * Ends a text at the first of its stop texts. As many characters are held back as could be the start of one.
 * @param stops not empty, none of them empty
 */
export class StopFilter {
  readonly #stops: readonly string[];
  readonly #heldChars: number;
  #held = '';

  constructor(stops: readonly string[]) {
    this.#stops = stops;
    this.#heldChars = Math.max(...stops.map((stop) => stop.length)) - 1;
  }

  push(piece: string): FilteredText {
    const text = this.#held + piece;
    let at = -1;
    let met: string | null = null;
    for (const stop of this.#stops) {
      const found = text.indexOf(stop);
      if (found >= 0 && (at < 0 || found < at)) {
        at = found;
        met = stop;
      }
    }
    if (met !== null) {
      this.#held = '';
      return { text: text.slice(0, at), stop: met };
    }
    const sendable = Math.max(0, text.length - this.#heldChars);
    this.#held = text.slice(sendable);
    return { text: text.slice(0, sendable), stop: null };
  }

  /** What was held back, once no more text comes. */
  flush(): string {
    const text = this.#held;
    this.#held = '';
    return text;
  }
}
