/** Collects the messages of a turn of the event loop, so that they leave as one. */
export class Outbox<Message> {
  readonly #send: (messages: readonly Message[]) => void;
  #messages: Message[] = [];

  constructor(send: (messages: readonly Message[]) => void) {
    this.#send = send;
  }

  push(message: Message): void {
    this.#messages.push(message);
    if (this.#messages.length === 1) setImmediate(() => this.flush());
  }

  /** Sends at once what is collected. */
  flush(): void {
    const messages = this.#messages;
    if (messages.length === 0) return;
    this.#messages = [];
    this.#send(messages);
  }
}
