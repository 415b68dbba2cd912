import type { JsonObject } from '../json-values.ts';

/**
 * Writes down received events as the file of a session's events, each as it comes: a whole session serialised at its
 * end would hold up the pacing of the sessions beside it.
 */
export class EventJournal {
  readonly #parts: Buffer[] = [];
  #bytes = 0;

  /** Events so far. */
  get count(): number {
    return this.#parts.length;
  }

  /** @param receivedMs on the run's clock; the file has it in seconds */
  append(event: JsonObject, receivedMs: number | null): void {
    const stamped = receivedMs === null ? event : { ...event, _client_received_at_s: receivedMs / 1000 };
    const text = JSON.stringify(stamped, null, 2).replaceAll('\n', '\n  ');
    const part = Buffer.from(`${this.#parts.length === 0 ? '[\n  ' : ',\n  '}${text}`);
    this.#parts.push(part);
    this.#bytes += part.length;
  }

  /** The whole file: an array, indented by two, with a newline at its end. */
  build(): Uint8Array<ArrayBuffer> {
    const end = Buffer.from(this.#parts.length === 0 ? '[]\n' : '\n]\n');
    const file = new Uint8Array(this.#bytes + end.length);
    let at = 0;
    for (const part of [...this.#parts, end]) {
      file.set(part, at);
      at += part.length;
    }
    return file;
  }
}
