import type { NatsConnection } from '@nats-io/transport-node';
import { messageOf, UsageError } from '../../foundation/errors.ts';
import { messageParts, PartAssembler } from './message-parts.ts';

/** Why nobody answered. */
export class NoAnswerError extends Error {
  /** `nobody` = no process listens there; `silent` = one may, and did not answer in time; `down` = no broker. */
  readonly reason: 'nobody' | 'silent' | 'down';

  constructor(reason: NoAnswerError['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** Message brokers between the processes of a deployment; what it loses while it is away is lost. */
export type Broker = {
  /** As a user may write it. */
  readonly address: string;
  /** Largest answer to a request, bytes. */
  readonly mostAnswerBytes: number;
  isUp(): boolean;
  /** Sends a message of any size; it is dropped while the broker is away. */
  publish(subject: string, message: Uint8Array): void;
  /** Messages to a subject, in the order in which each sender sent them. @returns ends it */
  subscribe(subject: string, onMessage: (message: Uint8Array) => void): () => void;
  /** Answers requests to a subject. @returns ends it */
  answer(subject: string, onRequest: (request: Uint8Array) => Uint8Array | null): () => void;
  /** @throws NoAnswerError */
  request(subject: string, request: Uint8Array, timeoutMs: number): Promise<Uint8Array>;
  /** Told when the connection is lost, and when it is there again. */
  watch(onChange: (isUp: boolean) => void): () => void;
  close(): Promise<void>;
};

/** A dead connection that sends no sign is found within about two of these, ms. */
const pingMs = 5000;
const connectTimeoutMs = 5000;
const reconnectWaitMs = 250;

async function connected(address: string, name: string): Promise<NatsConnection> {
  // Loaded only where a deployment spans processes.
  const { connect } = await import('@nats-io/transport-node');
  try {
    return await connect({
      servers: address,
      name,
      timeout: connectTimeoutMs,
      pingInterval: pingMs,
      maxPingOut: 1,
      maxReconnectAttempts: -1,
      reconnectTimeWait: reconnectWaitMs,
      reconnectJitter: reconnectWaitMs,
      ignoreClusterUpdates: true,
    });
  } catch (error) {
    const [, host = '', port = ''] = /^nats:\/\/(.+):(\d+)$/.exec(address) ?? [];
    throw new UsageError(
      `There is no NATS broker at ${address} (${messageOf(error)}). Start one first, e.g. nats-server -a ${host} -p ${port}.`,
      { cause: error },
    );
  }
}

/**
 * Connects to a NATS broker, and again whenever the connection is lost.
 * @param address as `nats://host:port`
 * @param name of this process, for the broker's own log
 * @throws UsageError where there is none
 */
export async function connectBroker(address: string, name: string): Promise<Broker> {
  const connection = await connected(address, name);
  const { NoRespondersError, TimeoutError, RequestError } = await import('@nats-io/transport-node');
  const watchers = new Set<(isUp: boolean) => void>();
  let up = true;
  const mostBytes = (connection.info?.max_payload ?? 1024 * 1024) - 1024;

  const change = (isUp: boolean): void => {
    if (isUp === up) return;
    up = isUp;
    for (const watcher of [...watchers]) watcher(isUp);
  };
  const follow = async (): Promise<void> => {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect' || type === 'staleConnection') change(false);
      else if (type === 'reconnect') change(true);
    }
    change(false);
  };
  void follow();

  return {
    address,
    mostAnswerBytes: mostBytes,
    isUp: () => up && !connection.isClosed(),
    publish(subject, message) {
      if (!up || connection.isClosed()) return;
      for (const part of messageParts(message, mostBytes)) connection.publish(subject, part);
    },
    subscribe(subject, onMessage) {
      const assembler = new PartAssembler();
      const subscription = connection.subscribe(subject, {
        callback: (error, { data }) => {
          if (error !== null) return;
          // Anybody may send to a broker: what is no message of ours must not stop those that are.
          try {
            const message = assembler.push(data);
            if (message !== null) onMessage(message);
          } catch (problem) {
            console.error(`A message to ${subject} was dropped: ${messageOf(problem)}.`);
          }
        },
      });
      return () => subscription.unsubscribe();
    },
    answer(subject, onRequest) {
      const subscription = connection.subscribe(subject, {
        callback: (error, message) => {
          if (error !== null) return;
          try {
            const answer = onRequest(message.data);
            if (answer !== null) message.respond(answer);
          } catch (problem) {
            console.error(`A request to ${subject} was dropped: ${messageOf(problem)}.`);
          }
        },
      });
      return () => subscription.unsubscribe();
    },
    async request(subject, request, timeoutMs) {
      if (!up || connection.isClosed())
        throw new NoAnswerError('down', `The broker ${address} cannot be reached.`);
      try {
        return (await connection.request(subject, request, { timeout: timeoutMs })).data;
      } catch (error) {
        if (error instanceof NoRespondersError || (error instanceof RequestError && error.isNoResponders()))
          throw new NoAnswerError('nobody', `Nobody listens to ${subject}.`, { cause: error });
        if (error instanceof TimeoutError)
          throw new NoAnswerError('silent', `No answer to ${subject} within ${timeoutMs} ms.`, {
            cause: error,
          });
        throw new NoAnswerError('down', `The broker ${address}: ${messageOf(error)}`, { cause: error });
      }
    },
    watch(onChange) {
      watchers.add(onChange);
      return () => watchers.delete(onChange);
    },
    async close() {
      watchers.clear();
      if (connection.isClosed()) return;
      // What was said last, such as a goodbye, is to arrive; a broker that is away is not waited for.
      if (up) await connection.flush().catch(() => undefined);
      await connection.close();
    },
  };
}
