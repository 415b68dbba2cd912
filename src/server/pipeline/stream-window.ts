/** Bounds how many requests have their later stages at work at once; the others wait in order. */
export class StreamWindow {
  readonly #size: number;
  readonly #active = new Set<object>();
  readonly #waiting = new Map<object, () => void>();

  constructor(size: number) {
    this.#size = size;
  }

  /**
   * Asks for a place, which the request keeps until {@link release}.
   * @returns whether it has one; otherwise `granted` is called once when it gets one
   */
  enter(request: object, granted: () => void): boolean {
    if (this.#active.has(request)) return true;
    if (this.#active.size < this.#size) {
      this.#active.add(request);
      return true;
    }
    if (!this.#waiting.has(request)) this.#waiting.set(request, granted);
    return false;
  }

  /** Frees the request's place, or its wait for one. Harmless when it has neither. */
  release(request: object): void {
    this.#waiting.delete(request);
    if (!this.#active.delete(request)) return;
    const [next] = this.#waiting;
    if (next === undefined) return;
    const [waiting, granted] = next;
    this.#waiting.delete(waiting);
    this.#active.add(waiting);
    granted();
  }
}
