import type { CommandIo } from './options.ts';

/** Ctrl-C as a run sees it: the first asks it to end in order, the second at once. */
export class Interrupts {
  count = 0;
  #handlers = new Set<(count: number) => void>();

  constructor(io: Pick<CommandIo, 'onInterrupt'>) {
    io.onInterrupt(() => {
      this.count += 1;
      for (const handler of [...this.#handlers]) handler(this.count);
    });
  }

  /**
   * Calls the handler at every Ctrl-C, and at once where one came already: none may fall between two steps of a run.
   * @returns a function that takes the handler back
   */
  listen(handler: (count: number) => void): () => void {
    this.#handlers.add(handler);
    if (this.count > 0) handler(this.count);
    return () => this.#handlers.delete(handler);
  }

  /** As {@link race}, for work that begins later: a Ctrl-C from now on counts, also before it begins. */
  leaver(): <T>(work: () => Promise<T>) => Promise<T | null> {
    const before = this.count;
    return async (work) => (this.count > before ? null : this.race(work()));
  }

  /** The result of `work`, or `null` when a further Ctrl-C comes first: what can't be cancelled is not waited for. */
  async race<T>(work: Promise<T>): Promise<T | null> {
    const before = this.count;
    let forget = (): void => {};
    const left = new Promise<null>((resolve) => {
      forget = this.listen((count) => {
        if (count > before) resolve(null);
      });
    });
    try {
      return await Promise.race([work, left]);
    } finally {
      forget();
    }
  }
}
