/** Items side by side in memory that threads share. */
export type ShelvedMedia = {
  readonly memory: SharedArrayBuffer;
  readonly places: readonly { readonly index: number; readonly start: number; readonly length: number }[];
};

/** Media of this size go over to another thread at once, bytes. */
const shelfBytes = 16 * 1024 * 1024;

/**
 * Gathers items and hands them on by the shelf: one by one, each of the buffers would set off the garbage collectors
 * of both threads.
 */
export class MediaShelf {
  readonly #onFull: (media: ShelvedMedia) => void;
  #memory: SharedArrayBuffer | null = null;
  #used = 0;
  #places: ShelvedMedia['places'][number][] = [];

  constructor(onFull: (media: ShelvedMedia) => void) {
    this.#onFull = onFull;
  }

  add(index: number, bytes: Uint8Array): void {
    if (this.#memory !== null && this.#used + bytes.length > this.#memory.byteLength) this.flush();
    this.#memory ??= new SharedArrayBuffer(Math.max(shelfBytes, bytes.length));
    new Uint8Array(this.#memory, this.#used, bytes.length).set(bytes);
    this.#places.push({ index, start: this.#used, length: bytes.length });
    this.#used += bytes.length;
  }

  /** Hands on what has been gathered. */
  flush(): void {
    if (this.#memory === null) return;
    this.#onFull({ memory: this.#memory, places: this.#places });
    this.#memory = null;
    this.#places = [];
    this.#used = 0;
  }
}
