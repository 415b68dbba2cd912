/** A switch that is thrown once and tells everyone who listens. */
export class StopSwitch {
  #stopped = false;
  readonly #handlers = new Set<() => void>();

  get stopped(): boolean {
    return this.#stopped;
  }

  /** @returns a function that takes the handler back; a handler given after the stop is never called */
  onStop(handler: () => void): () => void {
    this.#handlers.add(handler);
    return () => {
      this.#handlers.delete(handler);
    };
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    for (const handler of [...this.#handlers]) handler();
    this.#handlers.clear();
  }
}
