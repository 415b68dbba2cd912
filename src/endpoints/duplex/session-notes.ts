/** Most that a note shows of what it is about, characters. */
const mostShown = 120;

type Note = { times: number; readonly first: string | null; readonly isLoss: boolean };

/**
 * What was odd about a session and did not end it: each thing once, with its first case and how often it came, so that
 * no flood of a server's fills them.
 */
export class SessionNotes {
  readonly #notes = new Map<string, Note>();

  /**
   * @param what one of few texts
   * @param shown a case of it, of which the first is told; `null` = the text says it all
   */
  add(what: string, shown: string | null = null): void {
    this.#count(what, shown, false);
  }

  /** As {@link add}, for what was left out of the session: it may be what the session then waits for in vain. */
  lose(what: string, shown: string): void {
    this.#count(what, shown, true);
  }

  /** In order of their first case. */
  get list(): string[] {
    return [...this.#notes].map(textOf);
  }

  /** Those of what was left out. */
  get losses(): string[] {
    return [...this.#notes].filter(([, { isLoss }]) => isLoss).map(textOf);
  }

  #count(what: string, shown: string | null, isLoss: boolean): void {
    const note = this.#notes.get(what);
    if (note === undefined) this.#notes.set(what, { times: 1, first: shown, isLoss });
    else note.times += 1;
  }
}

/** A value of the server's as a note shows it: as JSON, on one line, and no longer than can be read. */
export function shownText(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(cut(value));
  return cut(JSON.stringify(value) ?? String(value));
}

function cut(text: string): string {
  return text.length > mostShown ? `${text.slice(0, mostShown)}…` : text;
}

function textOf([what, { times, first }]: [string, Note]): string {
  if (first === null) return what;
  return times === 1 ? `${what}: ${first}` : `${what}: ${first} (the first of ${times})`;
}
