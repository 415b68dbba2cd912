import { type Broker, NoAnswerError } from './broker.ts';

/** What happens to messages on their way; what it returns arrives, in that order. */
export type Relay = (subject: string, message: Uint8Array) => readonly Uint8Array[];

/** A broker within the process that a test can have lose, double and mix up messages. */
export function memoryBroker(): Broker & { relay: Relay } {
  const listeners = new Map<string, (message: Uint8Array) => void>();
  const answerers = new Map<string, (request: Uint8Array) => Uint8Array | null>();
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    relay: (_subject, message) => [message],
    address: 'nats://memory:4222',
    mostAnswerBytes: 1_000_000,
    isUp: () => true,
    publish(subject, message) {
      for (const each of this.relay(subject, message)) setImmediate(() => listeners.get(subject)?.(each));
    },
    subscribe(subject, onMessage) {
      listeners.set(subject, onMessage);
      return () => {
        if (listeners.get(subject) === onMessage) listeners.delete(subject);
      };
    },
    answer(subject, onRequest) {
      answerers.set(subject, onRequest);
      return () => answerers.delete(subject);
    },
    async request(subject, request, timeoutMs) {
      await turn();
      const answerer = answerers.get(subject);
      if (answerer === undefined) throw new NoAnswerError('nobody', `Nobody listens to ${subject}.`);
      const answer = answerer(request);
      if (answer === null) throw new NoAnswerError('silent', `No answer within ${timeoutMs} ms.`);
      await turn();
      return answer;
    },
    watch: () => () => {},
    close: async () => {},
  };
}
