import type { CommandIo } from './options.ts';

/** Ctrl-C as a run sees it: the first asks it to end in order, the second at once. */
export class Interrupts {
  count = 0;
  #handlers = new Set<(count: number) => void>();

  constructor(io: CommandIo) {
    io.onInterrupt(() => {
      this.count += 1;
      for (const handler of this.#handlers) handler(this.count);
    });
  }

  /** @returns a function that takes the handler back */
  listen(handler: (count: number) => void): () => void {
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }
}
