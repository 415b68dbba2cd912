import type { FaultGate } from '../faults/fault-gate.ts';
import type { TruthCounts } from '../truth-log.ts';
import type { ReplyLife } from './reply-life.ts';

/** A reply of bare bytes whose length is not known when it begins, such as audio that is still being made. */
export class ByteStream {
  readonly #life: ReplyLife;
  readonly #gate: FaultGate | null;

  constructor(life: ReplyLife) {
    this.#life = life;
    // There is no place for an error in bare bytes: the connection breaks, which a client sees as a short body.
    this.#gate = life.gate(() => this.breakOff());
  }

  /** Sends the headers at once. */
  open(contentType: string, headers: Readonly<Record<string, string>>): void {
    const { response, truth, id } = this.#life.accepted;
    truth.note('headers');
    response.writeHead(200, { 'content-type': contentType, 'x-request-id': id, ...headers });
    response.flushHeaders();
  }

  send(bytes: Buffer, counts: Omit<TruthCounts, 'bytes'>): void {
    const write = (): void => {
      const { response, truth } = this.#life.accepted;
      if (response.destroyed || response.writableEnded || bytes.length === 0) return;
      truth.note('audio', counts, bytes.length);
      response.write(bytes);
    };
    if (this.#gate === null) write();
    else this.#gate.pass(true, write);
  }

  end(): void {
    const end = (): void => {
      this.#life.accepted.truth.note('done', { bytes: 0 });
      this.#life.response.end();
      this.#life.end();
    };
    if (this.#gate === null) end();
    else this.#gate.pass(false, end);
  }

  /** Ends it in a way that no client takes for complete. */
  breakOff(): void {
    this.#life.accepted.truth.note('error');
    this.#life.end();
    this.#life.response.destroy();
  }
}
