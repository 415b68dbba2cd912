import { corruptBase64 } from './corrupt-base64.ts';
import type { RequestFault } from './request-fault.ts';

/** What a gate may do to the reply that it stands before. */
export type GatedReply = {
  /** Resets the connection. */
  reset(): void;
  /** Writes an error and ends the reply. */
  fail(): void;
};

/** Stands before a reply's events and lets the fault happen to them. Nothing passes after a reset or an error. */
export class FaultGate {
  readonly #fault: RequestFault;
  readonly #reply: GatedReply;
  #passed = 0;
  #closed = false;
  /** What waits for the end of a stall; `null` = nothing waits. */
  #held: (() => void)[] | null = null;
  #stalled = false;
  #corrupted = false;

  constructor(fault: RequestFault, reply: GatedReply) {
    this.#fault = fault;
    this.#reply = reply;
  }

  /**
   * Passes an event of text on.
   * @param isContent rather than a mark of the stream's own
   * @param write gets the event as it shall leave; not called where it shall not
   */
  text(payload: string, isContent: boolean, write: (payload: string) => void): void {
    this.#pass(isContent, () => write(this.#corrupt(payload)));
  }

  /** Passes on bytes, or what ends the reply. */
  pass(isContent: boolean, write: () => void): void {
    this.#pass(isContent, write);
  }

  #pass(isContent: boolean, write: () => void): void {
    const fault = this.#fault;
    if (this.#closed || (fault.kind === 'empty' && isContent)) return;
    if (this.#held !== null) {
      this.#held.push(write);
      return;
    }
    if ('afterEvents' in fault && this.#passed >= fault.afterEvents && !this.#stalled) {
      if (fault.kind === 'stall') this.#stall(fault.ms, write);
      else this.#breakOff(fault.kind);
      return;
    }
    this.#passed += 1;
    write();
  }

  #stall(ms: number | null, write: () => void): void {
    this.#stalled = true;
    this.#held = [write];
    if (ms === null) return;
    const timer = setTimeout(() => {
      const held = this.#held ?? [];
      this.#held = null;
      for (const late of held) late();
    }, ms);
    // A server that closes does not wait for it.
    timer.unref();
  }

  #breakOff(kind: 'reset' | 'error-event'): void {
    this.#closed = true;
    if (kind === 'reset') this.#reply.reset();
    else this.#reply.fail();
  }

  #corrupt(payload: string): string {
    if (this.#fault.kind !== 'bad-base64' || this.#corrupted) return payload;
    const corrupted = corruptBase64(payload);
    this.#corrupted = corrupted !== payload;
    return corrupted;
  }
}
